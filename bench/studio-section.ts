import { loadavg } from 'node:os'
import { median } from './statistics.ts'
import { BLOCKS, VIEWPORT } from './studio-fixture.ts'
import type { Frames, MeasuredStudio } from './studio-frames.ts'

const HEADING = '## Studio'
const FRAME_MS = 1_000 / 60
/** A frame that is late by less than this is one of 60 a second: timers are not that exact. */
const SLACK_MS = 0.5
/** Of 95 of 100 frames: two of 60 a second. */
const MOST_MS = 33
const SEEN_MS = 1_000

/** The section of the report. */
export function studioSection(
  { version, frames, seen }: MeasuredStudio,
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const most = Math.max(...seen)
  return `${HEADING}

The canvas with a blueprint of ${BLOCKS} blocks, in Chromium ${version} without a graphics processor, ${VIEWPORT.width} × ${VIEWPORT.height} pixels:
milliseconds from one frame to the next during constant movement. \`npm run bench -- --only studio\` measures this alone.

${table([
  ['Hand', 'frame p50', 'frame p95', 'frame p99', 'script, style and layout a frame', 'goal'],
  ...frames.map(cells),
])}

The goal is 60 frames a second in the median, and ${MOST_MS} ms for 95 of 100 frames. Without a graphics processor, painting takes processor time too, unlike on a desktop;
script, style and layout are the cost of the studio itself. The load average was ${(loadavg()[0] ?? 0).toFixed(1)}.

**Two people.** A block that one person moves appears at its new place for the other after ${Math.round(median(seen))} ms (median of
${seen.length}, most ${Math.round(most)} ms); goal: under ${SEEN_MS.toLocaleString('en-US')} ms, ${most < SEEN_MS ? 'met' : '**missed**'}.

Measured on ${date}, commit ${commit}.
`
}

function cells({ title, times, work }: Frames): readonly string[] {
  const [p50, p95] = [times.within(0.5), times.within(0.95)]
  return [
    title,
    `${p50.toFixed(1)} ms`,
    `${p95.toFixed(1)} ms`,
    `${times.within(0.99).toFixed(1)} ms`,
    `${work.toFixed(1)} ms`,
    p50 < FRAME_MS + SLACK_MS && p95 < MOST_MS + SLACK_MS ? 'met' : '**missed**',
  ]
}

function table(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = lines
  return [head, head.map(() => '---'), ...rest].map((line) => `| ${line.join(' | ')} |`).join('\n')
}
