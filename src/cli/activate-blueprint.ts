/**
 * Activates a blueprint without a time limit: storages with many documents get their indexes and free text first, and the
 * command shows the progress.
 *
 * A proxy in front of the server may stop waiting for the answer (502, 504, or a closed connection) while the server
 * continues. Then this asks whether the blueprint is active while anything is prepared, and requests the activation again
 * when nothing is: two activations deploy once.
 */
import { preparationText } from '../flows/live/note-preparations.ts'
import type { Problem } from '../shared/errors.ts'
import type { Preparation } from '../storage/capabilities.ts'
import type { Terminal } from './command.ts'
import { type Management, Refused, recordsOf, warningsIn } from './management.ts'

const FIRST_LOOK_MS = 2_000
const LOOK_MS = 5_000
/** Looks at which nothing was prepared and nothing was active, and tries that got no answer, before this gives up. */
const PATIENCE = 3

type Say = Pick<Terminal, 'complain' | 'redraw'>

/** Gives the warnings of the deploy, as far as its reply arrived. Throws Refused as the server refuses. `wait`: milliseconds. */
export async function activateBlueprint(
  management: Management,
  guid: string,
  say: Say,
  wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>,
): Promise<readonly Problem[]> {
  const over = new AbortController()
  const shown = showing(management, say, over.signal, wait)
  try {
    for (let tries = 1; ; tries++) {
      try {
        return warningsIn(await management.call('PUT', `/blueprints/update/set/active/${guid}`))
      } catch (error) {
        if (!(error instanceof Refused) || !mayGoOn(error)) throw error
        if (await becameActive(management, guid, wait)) return []
        if (tries === PATIENCE) throw error
      }
    }
  } finally {
    over.abort()
    await shown
    say.redraw?.('')
  }
}

/** Whether the server may still be working on it. */
function mayGoOn({ status }: Refused): boolean {
  return [0, 502, 504].includes(status)
}

async function becameActive(
  management: Management,
  guid: string,
  wait: (milliseconds: number) => Promise<void>,
): Promise<boolean> {
  for (let idle = 0; idle < PATIENCE; ) {
    await wait(LOOK_MS)
    const [record] = await recordOf(management, guid)
    if (record?.active === true) return true
    const awaited = (await preparations(management)).filter(({ kind }) => kind !== 'columns')
    idle = awaited.length > 0 ? 0 : idle + 1
  }
  return false
}

async function recordOf(management: Management, guid: string) {
  const body = { filters: { '_meta.guid': guid }, limit: 1 }
  return recordsOf(await management.call('POST', '/blueprints/search', body).catch(() => []))
}

async function showing(
  management: Management,
  say: Say,
  signal: AbortSignal,
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let last = ''
  for (let pause = FIRST_LOOK_MS; ; pause = LOOK_MS) {
    await wait(pause, signal).catch(() => undefined)
    if (signal.aborted) return
    const text = (await preparations(management)).map(preparationText).join(' ')
    if (signal.aborted) return
    if (text !== '' && text !== last) (say.redraw ?? say.complain)(text)
    last = text
  }
}

/** Empty as well where the server is of a version that cannot tell, or the token may not ask. */
async function preparations(management: Management): Promise<Preparation[]> {
  const records = recordsOf(await management.call('GET', '/_system/preparations').catch(() => []))
  return records.map(({ storage, kind, done, total }) => ({
    storage: String(storage),
    kind: kind === 'text' || kind === 'columns' ? kind : 'index',
    done: Number(done),
    total: Number(total),
  }))
}
