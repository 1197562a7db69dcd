import type { SessionEvent } from './types.ts'

/** Enclosure and pairing: what holds in every log that a loop wrote. Gives one line per broken rule. */
export function structureProblems(events: readonly SessionEvent[]): readonly string[] {
  const problems: string[] = []
  let turn: number | undefined
  let lastTurn = 0
  let step: number | undefined
  let lastStep = 0
  let open = new Map<string, boolean>()
  const say = (event: SessionEvent, text: string) => problems.push(`seq ${event.seq} ${event.type}: ${text}`)
  const inStep = (event: SessionEvent & { data: { turn: number; step: number } }) => {
    if (event.data.turn !== turn || event.data.step !== step)
      say(event, `names turn ${event.data.turn} step ${event.data.step}, which is not open`)
  }
  for (const event of events) {
    switch (event.type) {
      case 'turn/start':
        if (turn !== undefined) say(event, `turn ${turn} is still open`)
        if (event.data.turn <= lastTurn) say(event, `turn ${lastTurn} has been`)
        turn = lastTurn = event.data.turn
        lastStep = 0
        break
      case 'turn/end':
        if (event.data.turn !== turn) say(event, `turn ${event.data.turn} is not open`)
        if (step !== undefined) say(event, `step ${step} is still open`)
        turn = step = undefined
        break
      case 'step/start':
        if (event.data.turn !== turn) say(event, `turn ${event.data.turn} is not open`)
        if (event.data.step <= lastStep) say(event, `step ${lastStep} has been`)
        if (step !== undefined) say(event, `step ${step} is still open`)
        step = lastStep = event.data.step
        open = new Map()
        break
      case 'step/end':
        inStep(event)
        for (const id of open.keys()) say(event, `call ${id} has no result`)
        step = undefined
        open = new Map()
        break
      case 'assistant/chunk':
        inStep(event)
        break
      case 'assistant/message':
        inStep(event)
        for (const block of event.data.message.content) if (block.type === 'tool-call') open.set(block.id, false)
        break
      case 'tool/call':
        inStep(event)
        if (!open.has(event.data.callId)) say(event, `no assistant message asked for call ${event.data.callId}`)
        else open.set(event.data.callId, true)
        break
      case 'tool/result': {
        if (event.surfaceOp !== 'append') break
        inStep(event)
        const block = event.data.message.content[0]
        const id = block?.type === 'tool-result' ? block.toolCallId : ''
        if (!open.has(id)) say(event, `answers call ${id}, which is not open`)
        else if (open.get(id) === false && event.data.error?.code !== 'TOOL_NOT_STARTED')
          say(event, `answers call ${id}, which was never recorded as started`)
        open.delete(id)
        break
      }
    }
  }
  return problems
}
