import type { Soaked } from './soak.ts'

const heads = ['after', 'replies', 'heap after a collection', 'resident', 'of that pages of files']

/** The section of the report. */
export function soakSection(
  { samples, heapGrowth, ownGrowth, flat }: Soaked,
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const rows = samples.map(({ minutes, replies, heap, external, resident, mapped }) => [
    `${minutes.toFixed(1)} min`,
    replies.toLocaleString('en-US'),
    `${(heap + external).toFixed(1)} MB`,
    `${resident.toFixed(0)} MB`,
    `${mapped.toFixed(0)} MB`,
  ])
  const lines = [heads, heads.map(() => '---'), ...rows].map((line) => `| ${line.join(' | ')} |`)
  const sum = samples.reduce((total, { replies }) => total + replies, 0)
  return `## Soak

One server under a mix of lists, reads, updates, increments, creates and unknown guids, ${sum.toLocaleString('en-US')} replies.
\`npm run bench -- --only soak\` measures this (\`--seconds\` sets the duration; 600 if not given).

${lines.join('\n')}

From the first half to the second, medians: heap ${signed(heapGrowth)} MB, resident without pages of files ${signed(ownGrowth)} MB: ${flat ? 'flat' : '**not flat**'}.
Pages of files are those of the database, which grows all the time and is mapped up to 256 MB, and of the program.
The first turn, in which caches fill, is left out. Measured on ${date}, commit ${commit}.
`
}

function signed(megabytes: number): string {
  return `${megabytes < 0 ? '−' : '+'}${Math.abs(megabytes).toFixed(1)}`
}
