import type { TortureOutcome } from './run-part.ts'

const MOST_FAILURES = 20

/** What a run found, for a terminal: a row for each part, its figures, and its first failures. */
export function outcomeTable(outcomes: readonly TortureOutcome[]): string {
  const rows = outcomes.map((outcome) => [
    outcome.name,
    outcome.failures.length === 0 ? 'passed' : 'FAILED',
    outcome.checked.toLocaleString('en-US'),
    outcome.failures.length.toLocaleString('en-US'),
    outcome.control === 'none' ? 'none' : `found ${outcome.control}`,
    `${outcome.seconds} s`,
    outcome.summary,
  ])
  const table = [['Part', 'Result', 'Checked', 'Failures', 'Control', 'Time', 'What it checks'], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, ...outcomes.flatMap(details)].join('\n')
}

/** The last line of a run: what passed, what failed, and which parts were stopped before they began. `names`: of all parts that were asked for. */
export function outcomeLine(outcomes: readonly TortureOutcome[], names: readonly string[]): string {
  const failed = outcomes.filter(({ failures }) => failures.length > 0)
  const passed = outcomes.filter(({ failures }) => failures.length === 0)
  const missing = names.filter((name) => !outcomes.some((outcome) => outcome.name === name))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  return [
    failed.length + missing.length === 0 ? 'PASSED' : 'FAILED',
    `${passed.length} of ${names.length} parts passed`,
    ...failed.map(({ name, failures }) => `${name} failed with ${failures.length}`),
    ...(missing.length > 0 ? [`not run: ${missing.join(', ')}`] : []),
    `${sum(outcomes.map(({ checked }) => checked)).toLocaleString('en-US')} checks`,
    `${sum(outcomes.map(({ seconds }) => seconds)).toLocaleString('en-US')} s`,
  ].join('; ')
}

function details({ name, figures, failures }: TortureOutcome): string[] {
  const reported = Object.entries(figures).map(([figure, value]) => `  ${figure}: ${value}`)
  const wrong = failures.slice(0, MOST_FAILURES).map((failure) => `  FAILED: ${failure}`)
  const more = failures.length > MOST_FAILURES ? [`  … and ${failures.length - MOST_FAILURES} more`] : []
  return reported.length + wrong.length === 0 ? [] : ['', name, ...reported, ...wrong, ...more]
}
