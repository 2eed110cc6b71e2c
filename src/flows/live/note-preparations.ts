/** Log lines about what a deploy waits for, every ten seconds, so that an hour of it is no silence. */

import type { SystemLog } from '../../records/system-log.ts'
import type { Indexes, Preparation } from '../../storage/capabilities.ts'

const EVERY_MS = 10_000

export async function loggingPreparations<T>(
  { indexes, log, blueprint }: PreparationLog,
  work: () => Promise<T>,
  everyMs = EVERY_MS,
): Promise<T> {
  const look = async () => {
    for (const preparation of await indexes.preparing())
      log({ level: 'info', message: preparationText(preparation), blueprint })
  }
  const timer = setInterval(() => void look().catch(() => undefined), everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

interface PreparationLog {
  readonly indexes: Pick<Indexes, 'preparing'>
  readonly log: SystemLog['write']
  readonly blueprint: string
}

/** `Free text for the storage orders: 130,400 of about 900,000 documents.` */
export function preparationText({ storage, kind, done, total }: Preparation): string {
  const what = { text: 'Free text', index: 'An index', columns: 'Columns' }[kind]
  const pieces = kind === 'index' ? 'blocks' : 'documents'
  const of = total === 0 ? '' : ` of about ${count(total)}`
  return `${what} for the storage ${storage}: ${count(done)}${of} ${pieces}.`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
