/** Changes of a release in words for people: of a plan, which sends them as lines, and of the drift, which is found here. Pure. */

import type { ReleasePlan } from '../../../shared/api/blueprints/applications.ts'
import { type Application, normalApplication } from '../../../shared/application/application.ts'
import {
  applicationChanges,
  type ChangedValue,
  changedValues,
  changeText,
  type ObjectChange,
  partText,
  withoutUnplaced,
} from '../../../shared/application/application-changes.ts'
import { oneFileMaps } from '../../../shared/application/cluster-objects.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { applicationsTexts } from '../../texts/applications.ts'

export interface Step {
  readonly change: keyof typeof applicationsTexts.changes
  /** `Blueprint deals`. */
  readonly what: string
  /** `block reply changed`. */
  readonly parts: readonly string[]
  /** What they have other than before. */
  readonly values: readonly ChangedValue[]
  /** There are more. */
  readonly isCut: boolean
  /** What a push of the folder makes of it; empty in a plan. */
  readonly meaning: string
}

const noValues = { values: [], isCut: false } as const

export function stepsOf({ steps, values }: Pick<ReleasePlan, 'steps' | 'values'>): readonly Step[] {
  return steps.map((line) => {
    const found = values.find(({ step }) => step === line)
    return { ...stepOf(line), ...(found && { values: found.lines, isCut: found.is_cut }) }
  })
}

const objects = applicationsTexts.objects
const meanings = applicationsTexts.meaning

/** Of a line such as `changed storages/deals.json: field note created, block on removed`. What has another form stays as it is. */
export function stepOf(line: string): Step {
  const [word = '', ...words] = line.split(' ')
  const change = changeOf(word)
  const rest = words.join(' ')
  if (change === undefined) return { change: 'other', what: line, parts: [], meaning: '', ...noValues }
  // Names in these files have any characters: what follows is not taken apart.
  const together = oneFileMaps.find((map) => rest.startsWith(`${map}.json: `))
  if (together !== undefined) {
    const named = rest.slice(`${together}.json: `.length)
    return { change, what: `${objects[together]} ${named}`, parts: [], meaning: '', ...noValues }
  }
  const {
    map = '',
    object = '',
    parts = '',
  } = /^(?<map>\w+)\/(?<object>[\w-]+)\.(?:test\.json|json|ndjson)(?:: (?<parts>.*)| as it is)?$/.exec(rest)
    ?.groups ?? {}
  if (!isKind(map)) return { change, what: rest, parts: [], meaning: '', ...noValues }
  return {
    change,
    what: `${objects[map]} ${object}`,
    parts: parts === '' ? [] : parts.split(', '),
    meaning: '',
    ...noValues,
  }
}

function changeOf(word: string): Step['change'] | undefined {
  const found = Object.keys(applicationsTexts.changes).find((one) => one === word)
  return found === undefined || !isChange(found) || found === 'other' ? undefined : found
}

function isChange(word: string): word is Step['change'] {
  return word in applicationsTexts.changes
}

function isKind(map: string): map is keyof typeof objects {
  return Object.hasOwn(objects, map)
}

/** What the cluster has other than its present release; places of blocks count only where the release has them. */
export function driftOf(released: JsonObject, now: JsonObject): readonly Step[] {
  const [before, after]: readonly Application[] = [normalApplication(released), normalApplication(now)]
  if (before === undefined || after === undefined) return []
  const changes = applicationChanges(before, withoutUnplaced(after, before))
  const values = changedValues(before, after, changes)
  return changes.map((change) => {
    const found = values.find(({ step }) => step === changeText(change))
    return {
      change: change.change,
      what: `${objects[change.map]} ${change.object}`,
      parts: change.parts.map(partText),
      meaning: meaningOf(change),
      values: found?.lines ?? [],
      isCut: found?.isCut ?? false,
    }
  })
}

function meaningOf({ map, change, parts }: ObjectChange): string {
  if (change === 'created') return meanings.createdObject
  if (change === 'removed') {
    if (map === 'storages') return meanings.removedStorage
    return map === 'groups' ? meanings.removedGroup : meanings.removedObject
  }
  const fields = parts.filter(({ kind }) => kind === 'field')
  if (fields.some((one) => one.change === 'created')) return meanings.newField
  if (fields.some((one) => one.change === 'removed')) return meanings.goneField
  if (map === 'blueprints' && parts.every((one) => one.change === 'moved')) return meanings.onlyLayout
  return meanings.changedObject
}

/** Of `quoin.json`: `uses`, `offers`, and each part of `needs` with its name before it. */
export function aboutLists({ about }: JsonObject) {
  const { uses, offers, needs } = isJsonObject(about) ? about : {}
  const list = (value: JsonObject[string] | undefined) => (Array.isArray(value) ? value.map(String) : [])
  const named = Object.entries(isJsonObject(needs) ? needs : {}).flatMap(([kind, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${kind} ${String(one)}`),
  )
  return { uses: list(uses), offers: list(offers), needs: named }
}
