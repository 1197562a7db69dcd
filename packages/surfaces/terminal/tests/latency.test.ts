import { performance } from 'node:perf_hooks'
import { Editor } from '@mariozechner/pi-tui'
import { expect, it } from 'vitest'
import { createItemRenderer } from '../src/cards/item.ts'
import { createHighlighter } from '../src/highlight.ts'
import { createTranscript, push } from '../src/items.ts'
import { createTheme, editorTheme } from '../src/theme.ts'
import { Screen } from '../src/view/screen.ts'
import { TranscriptView } from '../src/view/transcript-view.ts'
import { VirtualTerminal } from './virtual-terminal.ts'

const long = process.env['DSH_LONG'] !== undefined

it.skipIf(!long)(
  'types within 50 ms in a session of two thousand messages, at the 95th percentile',
  { timeout: 120_000 },
  async () => {
    const theme = createTheme({})
    const transcript = createTranscript()
    for (let i = 0; i < 1000; i++) {
      push(transcript, { kind: 'prompt', text: `question ${i}` })
      push(transcript, {
        kind: 'answer',
        text: `# Answer ${i}\n\n${'words and more words '.repeat(30)}\n\n- a\n- b\n\n\`\`\`js\nconst x = ${i}\n\`\`\``,
        done: true,
      })
    }
    const view = new TranscriptView(
      transcript,
      createItemRenderer(
        theme,
        createHighlighter(theme, () => {}),
      ),
    )
    const terminal = new VirtualTerminal(100, 40)
    const screen = new Screen(terminal, (lines, width) => view.commit(lines, width))
    const editor = new Editor(screen, editorTheme(theme))
    screen.addChild(view)
    screen.addChild(editor)
    screen.setFocus(editor)
    screen.start()
    await terminal.settle(500)
    const times: number[] = []
    for (let i = 0; i < 200; i++) {
      const bytes = terminal.bytes
      const start = performance.now()
      terminal.type('x')
      while (terminal.bytes === bytes) await new Promise((resolve) => setImmediate(resolve))
      times.push(performance.now() - start)
    }
    screen.stop()
    times.sort((a, b) => a - b)
    console.log(`typing: median ${times[100]?.toFixed(1)} ms, 95th percentile ${times[190]?.toFixed(1)} ms`)
    expect(times[190]).toBeLessThan(50)
  },
)
