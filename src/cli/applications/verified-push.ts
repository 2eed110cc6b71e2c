/** `--verify` and `--accept` of a push: what is sent, and what is printed. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { UsageError } from '../read-words.ts'

/** As the API takes it; undefined without `--verify`. */
export function verification(runs: string | undefined, accepted: readonly string[]): JsonObject | undefined {
  if (runs === undefined) {
    if (accepted.length > 0) throw new UsageError('--accept needs --verify <number>.')
    return undefined
  }
  if (!/^[1-9]\d{0,2}$/.test(runs) || Number(runs) > 200)
    throw new UsageError(`--verify must be a whole number from 1 to 200; got ${JSON.stringify(runs)}.`)
  return { runs: Number(runs), accepted: [...accepted] }
}

/** Also where nothing could be compared: that is no proof. */
export function verifiedLines(reply: JsonObject): string[] {
  if (reply.verified === undefined) return []
  const verified = objectsIn(reply.verified)
  if (verified.length === 0) return ['not verified: the push changes no blueprint that is there.']
  return verified.map(verifiedLine)
}

function verifiedLine({ file, compared, same, accepted, remembered, skipped, left }: JsonObject): string {
  const others = [
    counted(textsIn(accepted).length, 'accepted differences'),
    counted(remembered, 'accepted before'),
    counted(skipped, 'runs cannot be repeated'),
    counted(left, 'runs left for lack of time'),
  ].join('')
  if (compared !== 0)
    return `verified ${textIn(file)}: ${String(compared)} recorded runs compared, ${String(same)} end the same${others}`
  if (others !== '') return `not verified ${textIn(file)}: no recorded run was compared${others}`
  return `not verified ${textIn(file)}: no run is recorded. Trace the blueprint, or record requests of it, for some time first.`
}

function counted(count: JsonValue | undefined, what: string): string {
  return count === 0 || count === undefined ? '' : `, ${String(count)} ${what}`
}

/** Of a push that is refused. */
export function differenceLines({ differences }: JsonObject): string[] {
  return objectsIn(differences).map(({ key, file, run, label, kind, paths, deployed, candidate }) => {
    const where = textsIn(paths).length === 0 ? '' : ` at ${textsIn(paths).join(', ')}`
    const ends = kind === 'fails' || kind === 'status' ? `: ${ending(deployed)} → ${ending(candidate)}` : ''
    return `differs ${textIn(key)}: ${textIn(file)} ${textIn(label)}: ${textIn(kind)}${where}${ends} (run ${textIn(run)})`
  })
}

function ending(side: JsonValue | undefined): string {
  const { status, error } = isJsonObject(side) ? side : {}
  return [typeof status === 'number' ? String(status) : '', textIn(error)].filter(Boolean).join(' ') || 'ends'
}
