import { Editor } from '@mariozechner/pi-tui'
import { describe, expect, it } from 'vitest'
import { createItemRenderer } from '../src/cards/item.ts'
import { createHighlighter } from '../src/highlight.ts'
import { createTranscript, say } from '../src/items.ts'
import { createTheme, editorTheme } from '../src/theme.ts'
import { ActivityPanel } from '../src/view/footer.ts'
import { Screen } from '../src/view/screen.ts'
import { TranscriptView } from '../src/view/transcript-view.ts'
import { VirtualTerminal } from './virtual-terminal.ts'

function setup(columns = 60, rows = 20) {
  const theme = createTheme({ NO_COLOR: '1' })
  const transcript = createTranscript()
  const view = new TranscriptView(
    transcript,
    createItemRenderer(
      theme,
      createHighlighter(theme, () => {}),
    ),
  )
  const terminal = new VirtualTerminal(columns, rows)
  const screen = new Screen(terminal, (lines, width) => view.commit(lines, width))
  const editor = new Editor(screen, editorTheme(theme))
  screen.addChild(view)
  screen.addChild(
    new ActivityPanel(
      () => transcript,
      () => [],
      theme,
    ),
  )
  screen.addChild(editor)
  screen.setFocus(editor)
  screen.start()
  return { transcript, view, terminal, screen }
}

describe('the screen', () => {
  it('keeps a long conversation in the scrollback and draws only what is on the screen', async () => {
    const { transcript, terminal, screen } = setup()
    for (let i = 0; i < 300; i++) {
      say(transcript, `notice number ${i}`)
      if (i % 10 === 0) {
        screen.requestRender()
        await terminal.settle(25)
      }
    }
    screen.requestRender()
    await terminal.settle()
    const text = terminal.everything().join('\n')
    for (const i of [0, 1, 57, 150, 298, 299]) expect(text.split(`notice number ${i}\n`)).toHaveLength(2)
    expect(terminal.screen().join('\n')).toContain('notice number 299')

    // a spinner frame touches one line, not the screen
    transcript.turnOpen = true
    transcript.turnStartedAt = Date.now()
    screen.requestRender()
    await terminal.settle()
    const before = terminal.bytes
    screen.requestRender()
    await terminal.settle(120)
    screen.requestRender()
    await terminal.settle()
    expect(terminal.bytes - before).toBeLessThan(400)
    screen.stop()
  })

  it('puts the cursor where the next character goes', async () => {
    const { terminal, screen } = setup()
    terminal.type('h')
    terminal.type('日')
    await terminal.settle()
    const at = terminal.cursor()
    expect(terminal.screen()[at.row]?.slice(0, 2)).toBe('h日')
    expect(at.column).toBe(3)
    screen.stop()
  })

  it('survives a resize in the middle', async () => {
    const { transcript, terminal, screen } = setup()
    for (let i = 0; i < 50; i++) say(transcript, `entry ${i} ${'word '.repeat(20)}`)
    screen.requestRender()
    await terminal.settle()
    terminal.resize(33, 12)
    await terminal.settle()
    say(transcript, 'after the resize')
    screen.requestRender()
    await terminal.settle()
    expect(terminal.screen().join('\n')).toContain('after the resize')
    for (const line of terminal.screen()) expect(line.length).toBeLessThanOrEqual(33)
    screen.stop()
  })
})
