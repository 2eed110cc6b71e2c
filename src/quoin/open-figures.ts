import type { Metrics } from '../http/metrics/metrics.ts'
import { ensureFigures } from '../records/figures/figure-documents.ts'
import { openFigureRecorder } from '../records/figures/figure-recorder.ts'
import { leads } from '../storage/leading-node.ts'
import type { NodeDatabase } from './open-database.ts'
import type { NodeFlows } from './open-flows.ts'
import type { Start } from './start.ts'

/** Stores what this node serves, minute by minute. */
export async function openNodeFigures(
  { clock, offline, opened }: Start,
  { raw, node }: NodeDatabase,
  { flows: { log } }: Pick<NodeFlows, 'flows'>,
  metrics: Pick<Metrics, 'traffic'>,
): Promise<void> {
  await ensureFigures(raw)
  if (offline) return
  const recorder = openFigureRecorder({
    database: raw,
    clock,
    node: node.name.slice(0, 255),
    traffic: metrics.traffic,
    leads: () => leads(raw.capabilities),
    failed: (error) =>
      log.write({
        level: 'warn',
        message: `The figures of a minute could not be stored yet: ${String(error)}`,
      }),
  })
  opened.add(() => recorder.close())
}
