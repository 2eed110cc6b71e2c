/** What an application needs that is not its own: the version of Quoin, and storages that other applications offer. */
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { textIn, textsIn } from '../storage/document-fields.ts'
import type { Applied } from './apply-release.ts'
import { ownedObjectsIn } from './present-application.ts'

export interface OtherApplication {
  readonly name: string
  readonly storages: readonly string[]
  /** Of these, what others may use. */
  readonly offers: readonly string[]
  /** `crm.customers` */
  readonly uses: readonly string[]
}

export function otherApplications(
  records: readonly JsonObject[],
  requested: Application,
): readonly OtherApplication[] {
  const name = nameOfApplication(requested)
  return records
    .filter((record) => record.name !== name)
    .map((record) => ({
      name: textIn(record.name),
      storages: Object.keys(ownedObjectsIn(record.objects).storages),
      offers: textsIn(record.offers),
      uses: textsIn(record.uses),
    }))
}

/** The file of the application that names each storage; a storage is known by the compiler or by a reference. */
export function usedStorages(
  requested: Application,
  applied: Applied | undefined,
): ReadonlyMap<string, string> {
  const used = new Map<string, string>()
  for (const [object, { fields }] of Object.entries(requested.storages))
    for (const field of isJsonObject(fields) ? Object.values(fields) : []) {
      const reference = isJsonObject(field) && isJsonObject(field.reference) ? field.reference : {}
      if (typeof reference.storage === 'string') used.set(reference.storage, `storages/${object}.json`)
    }
  if (!applied) return used
  const { blueprints } = applied.live.table()
  for (const [object, guid] of Object.entries(applied.objects.blueprints))
    for (const storage of blueprints.get(guid)?.compiled.needs.keys() ?? [])
      used.set(storage, `blueprints/${object}.json`)
  return used
}

/** Why the application does not go together with the others: a line each. */
export function sharingProblems(
  requested: Application,
  others: readonly OtherApplication[],
  used: ReadonlyMap<string, string>,
): readonly string[] {
  const uses = textsIn(requested.about.uses)
  const unoffered = uses.flatMap((use) => {
    const [application = '', storage = ''] = use.split('.')
    const other = others.find(({ name }) => name === application)
    if (other?.offers.includes(storage)) return []
    return other
      ? [`quoin.json: uses ${use}, which ${application} does not offer. Add ${storage} to its offers.`]
      : [`quoin.json: uses ${use}, and there is no application ${application}. Push that one first.`]
  })
  const undeclared = [...used].flatMap(([storage, file]) => {
    const owner = others.find(({ storages }) => storages.includes(storage))?.name
    if (owner === undefined || uses.includes(`${owner}.${storage}`)) return []
    return [
      `${file}: uses the storage ${storage} of the application ${owner}. Add ${owner}.${storage} to uses of quoin.json.`,
    ]
  })
  return [...unoffered, ...undeclared, ...offerProblems(requested, others)]
}

function offerProblems(requested: Application, others: readonly OtherApplication[]): string[] {
  const name = nameOfApplication(requested)
  const offers = textsIn(requested.about.offers)
  const absent = offers.filter((storage) => requested.storages[storage] === undefined)
  const withdrawn = others.flatMap((other) =>
    other.uses.flatMap((use) => {
      const [application, storage = ''] = use.split('.')
      return application === name && !offers.includes(storage)
        ? [`quoin.json: the application ${other.name} uses ${use}. Keep ${storage} in offers.`]
        : []
    }),
  )
  return [
    ...absent.map((storage) => `quoin.json: offers ${storage}, and there is no storages/${storage}.json.`),
    ...withdrawn,
  ]
}

/** `needs.quoin` is the least version, of the same major one. */
export function versionProblem(requested: Application, version: string): readonly string[] {
  const needs = isJsonObject(requested.about.needs) ? requested.about.needs.quoin : undefined
  if (typeof needs !== 'string') return []
  const isOlder = isBefore(version, needs)
  if (isVersionFor(needs, version)) return []
  return [
    `quoin.json: needs Quoin ${needs}, and the cluster has ${version}. ${isOlder ? 'Upgrade the cluster first.' : 'It was made for an earlier major version: change needs.quoin once it is adapted.'}`,
  ]
}

/** At least this version, of the same major one. */
export function isVersionFor(least: string, version: string): boolean {
  return !isBefore(version, least) && numbersOf(least)[0] === numbersOf(version)[0]
}

function isBefore(version: string, other: string): boolean {
  const [one, two] = [numbersOf(version), numbersOf(other)]
  const at = one.findIndex((number, place) => number !== two[place])
  return at >= 0 && (one[at] ?? 0) < (two[at] ?? 0)
}

function numbersOf(version: string): readonly number[] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).slice(0, 3).map(Number)
  return [major, minor, patch].map((number) => (Number.isFinite(number) ? number : 0))
}
