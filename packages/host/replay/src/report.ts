import type { Finding, Outcome } from './replay.ts'

export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly durationMs: number
}

export function summaryOf(outcomes: readonly Outcome[], durationMs: number): Summary {
  const failed = outcomes.filter((outcome) => outcome.findings.length > 0).length
  const skipped = outcomes.filter((outcome) => outcome.skipped !== undefined).length
  return { passed: outcomes.length - failed - skipped, failed, skipped, durationMs }
}

/** One line per fixture; behind a failing one, what is different. */
export function outcomeText(outcome: Outcome, maxLines = 80): string {
  if (outcome.skipped !== undefined) return `skip ${outcome.name}  (${outcome.skipped})`
  const failed = outcome.findings.length > 0
  const head = `${failed ? 'FAIL' : 'ok  '} ${outcome.name}  (${outcome.events} events, ${outcome.durationMs} ms)`
  return [head, ...outcome.findings.map((finding) => findingText(finding, maxLines))].join('\n')
}

function findingText(finding: Finding, maxLines: number): string {
  const lines = finding.detail === '' ? [] : finding.detail.split('\n')
  const hidden = lines.length - maxLines
  const shown = hidden > 0 ? [...lines.slice(0, maxLines), `… ${hidden} more lines (--full shows them)`] : lines
  return [`  ${finding.title}`, ...shown.map((line) => `    ${line}`)].join('\n')
}

/** One document for programs. */
export function reportJson(outcomes: readonly Outcome[], summary: Summary): string {
  const fixtures = outcomes.map(({ name, durationMs, events, findings, skipped }) => ({
    name,
    ok: findings.length === 0,
    ...(skipped === undefined ? {} : { skipped }),
    duration_ms: durationMs,
    events,
    findings,
  }))
  const { passed, failed, skipped, durationMs } = summary
  const document = { type: 'replay', passed, failed, skipped, duration_ms: durationMs, fixtures }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The JUnit XML that CI systems read: one test case per fixture. */
export function reportJunit(outcomes: readonly Outcome[], summary: Summary): string {
  const total = `tests="${outcomes.length}" failures="${summary.failed}" skipped="${summary.skipped}" time="${summary.durationMs / 1000}"`
  const cases = outcomes.map((outcome) => {
    const open = `    <testcase classname="dsh.replay" name="${xml(outcome.name)}" time="${outcome.durationMs / 1000}"`
    if (outcome.skipped !== undefined) return `${open}><skipped message="${xml(outcome.skipped)}"/></testcase>`
    if (outcome.findings.length === 0) return `${open}/>`
    const failures = outcome.findings.map(
      (finding) =>
        `      <failure type="${finding.kind}" message="${xml(finding.title)}">${xml(finding.detail)}</failure>`,
    )
    return [`${open}>`, ...failures, '    </testcase>'].join('\n')
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${total}>`,
    `  <testsuite name="dsh replay" ${total}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** XML 1.0 has no way at all to write most control characters. */
function xml(text: string): string {
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd')
  return clean.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
