/** The lines of the first table below a heading, by the text of their first cells. */
export function linesBelow(report: string, heading: string, cells: number): (readonly [string, string])[] {
  const start = report.indexOf(`${heading}\n`)
  if (start < 0) return []
  const end = report.indexOf('\n## ', start)
  return report
    .slice(start, end < 0 ? undefined : end)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => [line.slice(2).split(' | ').slice(0, cells).join(' | '), line] as const)
}
