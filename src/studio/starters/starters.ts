import type { BlueprintFile } from '../../shared/application/blueprint-file.ts'

/** A blueprint to start from. */
export interface Starter {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Read when it is chosen. */
  readonly load: () => Promise<unknown>
}

export const starters: readonly Starter[] = [
  {
    id: 'hello',
    title: 'Hello',
    summary: 'The smallest endpoint: a parameter, a default, a reply.',
    load: async () => (await import('./hello.blueprint.json')).default,
  },
  {
    id: 'guestbook',
    title: 'Guestbook',
    summary: 'Stores a document and lists the newest.',
    load: async () => (await import('./guestbook.blueprint.json')).default,
  },
  {
    id: 'receipts',
    title: 'Background work of a request',
    summary: 'Replies at once and does the rest in a queue, safe against crashes.',
    load: async () => (await import('./receipts.blueprint.json')).default,
  },
  {
    id: 'heartbeat',
    title: 'On a schedule',
    summary: 'A schedule that writes a document every minute.',
    load: async () => (await import('./heartbeat.blueprint.json')).default,
  },
  {
    id: 'cities',
    title: 'Search over cities',
    summary: 'Free text, filters, order and pages over the 1,000 largest cities, which come along.',
    load: async () => (await import('../../../examples/cities.blueprint.json')).default,
  },
]

/** Our own files have the shape; the compiler reads JSON with wider types. */
export async function starterFile({ load }: Starter): Promise<BlueprintFile> {
  return (await load()) as BlueprintFile
}
