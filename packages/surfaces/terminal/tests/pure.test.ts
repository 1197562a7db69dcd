import { describe, expect, it } from 'vitest'
import { diffCard } from '../src/cards/diff.ts'
import { parseArgs, toolCard } from '../src/cards/tool.ts'
import { referenceToken } from '../src/completion.ts'
import { exportTarget } from '../src/export-target.ts'
import { paintMarkup } from '../src/highlight.ts'
import type { ToolItem } from '../src/items.ts'
import { oneLine, sanitize } from '../src/sanitize.ts'
import { noSuchCommand, parseSlash } from '../src/slash.ts'
import { statusLine } from '../src/status-line.ts'
import { lastBoundary } from '../src/streaming-markdown.ts'
import { createTheme } from '../src/theme.ts'

const theme = createTheme({ NO_COLOR: '1' })

describe('foreign text', () => {
  it('loses escape sequences, controls and direction overrides, and keeps the last state of a redrawn line', () => {
    expect(sanitize('\x1b[31mred\x1b[0m\x07 a\u202Eb\tc')).toBe('red ab    c')
    expect(sanitize('10%\r20%\r100%\ndone\r\n')).toBe('100%\ndone\n')
    expect(sanitize('\x1b]0;title\x07x')).toBe('x')
  })
  it('fits one line', () => {
    expect(oneLine('a\n  b', 10)).toBe('a b')
    expect(oneLine('x'.repeat(20), 10)).toBe(`${'x'.repeat(9)}…`)
  })
})

describe('markdown that grows', () => {
  it('ends a block at a blank line, but not inside a fence or before a list item', () => {
    expect(lastBoundary('one\n\ntwo', 0)).toBe(5)
    expect(lastBoundary('```\na\n\nb', 0)).toBe(0)
    expect(lastBoundary('```\na\n\nb\n```\n\nnext', 0)).toBe(14)
    expect(lastBoundary('- a\n\n- b', 0)).toBe(0)
    expect(lastBoundary('a\n\n  indented', 0)).toBe(0)
  })
})

describe('tool cards', () => {
  it('read arguments that are still streaming', () => {
    expect(parseArgs('{"file_path":"src/a.ts","content":"line 1\\nli')).toEqual({
      file_path: 'src/a.ts',
      content: 'line 1\nli',
    })
    expect(parseArgs('{"a":1')).toEqual({})
  })
  it('show the tail of a command, and mark a failing one', () => {
    const result = `${Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')}\n[exit code: 2]`
    const item: ToolItem = {
      kind: 'tool',
      callId: 'c',
      name: 'bash',
      args: '{"command":"make"}',
      state: 'done',
      result,
      isError: false,
    }
    const lines = toolCard(item, { theme, width: 80, expanded: false })
    expect(lines[0]).toBe('✗ bash make')
    expect(lines[1]).toContain('13 lines above')
    expect(lines.at(-1)).toBe('  [exit code: 2]')
    expect(toolCard(item, { theme, width: 80, expanded: true })).toHaveLength(22)
  })
  it('number the lines of a diff from where the hunk starts', () => {
    expect(
      diffCard([{ path: 'a', oldText: 'same\nold', newText: 'same\nnew', oldStart: 7, newStart: 7 }], theme, 99),
    ).toEqual(['   7   same', '   8 - old', '   8 + new'])
  })
})

describe('small things', () => {
  it('paints nested markup line by line', () => {
    const color = createTheme({})
    expect(paintMarkup('<span class="hljs-string">a\nb</span> &lt;', color)).toBe(
      '\x1b[32ma\x1b[39m\n\x1b[32mb\x1b[39m <',
    )
  })
  it('sees a file reference only behind white space or at the start', () => {
    expect(referenceToken('look at @src/a')).toEqual({ text: '@src/a', query: 'src/a', quoted: false })
    expect(referenceToken('@"my di')).toEqual({ text: '@"my di', query: 'my di', quoted: true })
    expect(referenceToken('mail a@b')).toBeUndefined()
  })
  it('tells a command from a path', () => {
    expect(parseSlash('/model deepseek-v4-pro')).toEqual({ name: 'model', args: 'deepseek-v4-pro' })
    expect(parseSlash('/usr/bin/env is missing')).toBeUndefined()
    const rows = [{ name: 'compact', description: '' }]
    expect(noSuchCommand('modle', rows)).toBe('no such command: /modle — did you mean /model? (see /help)')
    expect(noSuchCommand('compat', rows)).toBe('no such command: /compat — did you mean /compact? (see /help)')
    expect(noSuchCommand('wherever', rows)).toBe('no such command: /wherever (see /help)')
  })
  it('keeps the knobs on a narrow status line and drops the rest', () => {
    const facts = {
      model: 'm',
      effort: 'high',
      mode: 'workspace-write',
      policy: 'ask',
      enforcement: { level: 'partial', rung: 'landlock' } as const,
      contextUsed: 0.123,
      costUsd: 0.5,
    }
    expect(statusLine(facts, 200, theme)).toBe(
      'm (high) · workspace-write/ask · sandbox partial · context 12% · $0.5000',
    )
    expect(statusLine(facts, 40, theme)).toBe('m (high) · workspace-write/ask')
  })
})

describe('the words behind /export', () => {
  it.each([
    ['', 'md', undefined],
    ['html', 'html', undefined],
    ['md notes.md', 'md', 'notes.md'],
    ['md  my notes.txt', 'md', 'my notes.txt'],
    ['notes.HTML', 'html', 'notes.HTML'],
    ['~/out dir/log.jsonl', 'jsonl', '~/out dir/log.jsonl'],
  ])('%j', (args, format, file) => {
    expect(exportTarget(args)).toEqual({ format, file })
  })

  it.each([
    ['pdf', 'no such format: pdf (there are: md, html, jsonl)'],
    ['notes.txt', 'no such format: txt (there are: md, html, jsonl)'],
  ])('%j is refused in one line', (args, text) => {
    expect(() => exportTarget(args)).toThrow(text)
  })
})
