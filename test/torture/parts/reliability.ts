import { writeFile } from 'node:fs/promises'
import { provePromises } from '../../cluster/prove-promises.ts'
import { reliabilityReport } from '../../cluster/reliability-report.ts'
import type { StormFigures } from '../../cluster/storm.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

/** Every fault once takes about so long, seconds. */
const ROUND_SECONDS = 45

/** With `--pages` it makes docs/reliability.md: `npm run prove` is the name of that. */
const reliability: TorturePart = {
  name: 'reliability',
  summary: 'Three nodes under load while nodes and PostgreSQL are killed and wires are cut.',
  run: (context) => prove(context, Math.max(1, Math.round(context.seconds / ROUND_SECONDS))),
  // As if a reply had been sent before the commit: what was lost with the fault must be found.
  control: (context) => prove(context, 1, true),
}
export default reliability

async function prove(
  { short, pages, random, tell, signal }: TortureContext,
  rounds: number,
  early = false,
): Promise<TortureResult> {
  const schedules = short ? 10 : 40
  const { figures, broken } = await provePromises({
    rounds,
    schedules,
    shuffled: random.shuffled,
    tell,
    early,
    signal,
  })
  if (pages && !early && broken.length === 0) await writePage(figures, tell)
  const { notes, ticks, switches } = figures
  return {
    checked: notes.acknowledged + ticks.ticks + switches.asked,
    failures: broken,
    figures: {
      faults: figures.faults.length,
      'acknowledged notes': notes.acknowledged,
      ticks: ticks.ticks,
      'requests after a switch': switches.asked,
    },
  }
}

async function writePage(figures: StormFigures, tell: (line: string) => void): Promise<void> {
  tell(JSON.stringify(figures, undefined, 2))
  const date = new Date().toISOString().slice(0, 10)
  const page = new URL('../../../docs/reliability.md', import.meta.url)
  await writeFile(page, reliabilityReport(figures, { date }))
  tell('docs/reliability.md is written')
}
