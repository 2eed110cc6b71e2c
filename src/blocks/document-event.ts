/** What can happen to a document, as flows listen for it. `on_saved` is either of the first two. */
export const documentEvents = ['on_created', 'on_updated', 'on_saved', 'on_removed', 'on_deleted'] as const

export type DocumentEvent = (typeof documentEvents)[number]

/** As titles of jobs say them; the studio does the same with `eventWords`. */
export const documentEventWords: Readonly<Record<DocumentEvent, string>> = {
  on_created: 'created',
  on_updated: 'changed',
  on_saved: 'saved',
  on_removed: 'removed',
  on_deleted: 'deleted',
}

type Happened = 'created' | 'updated' | 'removed' | 'restored' | 'deleted'

/**
 * By what happened: the events that it counts as, the most exact one first. A document that comes back counts as
 * updated, because no flow that keeps something beside the documents could hear of it otherwise.
 */
const countsAs: Readonly<Record<Happened, readonly DocumentEvent[]>> = {
  created: ['on_created', 'on_saved'],
  updated: ['on_updated', 'on_saved'],
  restored: ['on_updated', 'on_saved'],
  removed: ['on_removed'],
  deleted: ['on_deleted'],
}

export function isDocumentEvent(value: unknown): value is DocumentEvent {
  return documentEvents.some((event) => event === value)
}

/** The most specific of the listened events that matches the change; undefined when none matches. */
export function documentEventOf(
  happened: Happened,
  listened: readonly DocumentEvent[],
): DocumentEvent | undefined {
  return countsAs[happened].find((event) => listened.includes(event))
}
