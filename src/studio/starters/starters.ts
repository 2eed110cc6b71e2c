import type { BlueprintFile } from '../../shared/application/blueprint-file.ts'
import { startersTexts } from '../texts/start.ts'

/** A blueprint to start from. */
export interface Starter {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Read when it is chosen. */
  readonly load: () => Promise<unknown>
}

/** The example as one file: its blueprint with the documents that it begins with. */
async function cities(): Promise<unknown> {
  const [{ default: blueprint }, { default: lines }] = await Promise.all([
    import('../../../examples/cities/blueprints/cities.json'),
    import('../../../examples/cities/seed/cities.ndjson?raw'),
  ])
  const documents = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  return { ...blueprint, documents: { cities: documents } }
}

export const starters: readonly Starter[] = [
  {
    id: 'hello',
    title: startersTexts.hello,
    summary: startersTexts.helloSummary,
    load: async () => (await import('./hello.blueprint.json')).default,
  },
  {
    id: 'guestbook',
    title: startersTexts.guestbook,
    summary: startersTexts.guestbookSummary,
    load: async () => (await import('./guestbook.blueprint.json')).default,
  },
  {
    id: 'receipts',
    title: startersTexts.receipts,
    summary: startersTexts.receiptsSummary,
    load: async () => (await import('./receipts.blueprint.json')).default,
  },
  {
    id: 'heartbeat',
    title: startersTexts.heartbeat,
    summary: startersTexts.heartbeatSummary,
    load: async () => (await import('./heartbeat.blueprint.json')).default,
  },
  {
    id: 'cities',
    title: startersTexts.cities,
    summary: startersTexts.citiesSummary,
    load: cities,
  },
]

/** Our own files have the shape; the compiler reads JSON with wider types. */
export async function starterFile({ load }: Starter): Promise<BlueprintFile> {
  return (await load()) as BlueprintFile
}
