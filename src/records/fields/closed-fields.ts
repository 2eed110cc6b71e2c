/** Closed storages: their documents hold only the fields that the storage lists. */
import { invalidField } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'

/** Names by their parts. What has no names inside may hold anything. */
interface Names {
  readonly inside: Map<string, Names>
}

const known = new WeakMap<readonly FieldRule[], Names>()

/** Throws INVALID_BODY that names the first field which the storage does not have. */
export function checkListed(
  storage: string,
  rules: readonly FieldRule[],
  mutations: readonly Mutation[],
): void {
  // What is taken away may be there from before the storage was closed.
  const written = mutations.filter(({ op }) => op !== 'remove')
  const unlisted = unlistedIn(applyMutations({}, written), rules)
  if (unlisted === undefined) return
  const { name, meant } = unlisted
  const advice = meant === undefined ? '' : ` Did you mean ${meant}?`
  throw invalidField(name, `The storage ${storage} has no field ${name}, and it is closed.${advice}`)
}

/** The first field of a document that no rule names. */
export function unlistedIn(
  document: JsonObject,
  rules: readonly FieldRule[],
): { readonly name: string; readonly meant: string | undefined } | undefined {
  const names = known.get(rules) ?? namesOf(rules)
  known.set(rules, names)
  return unlisted(document, names, '')
}

function unlisted(object: JsonObject, { inside }: Names, path: string): ReturnType<typeof unlistedIn> {
  for (const [key, value] of Object.entries(object)) {
    const names = inside.get(key)
    if (!names) {
      const meant = nearestName(key, [...inside.keys()])
      return { name: `${path}${key}`, meant: meant === undefined ? undefined : `${path}${meant}` }
    }
    if (names.inside.size === 0 || !isJsonObject(value)) continue
    const found = unlisted(value, names, `${path}${key}.`)
    if (found) return found
  }
  return undefined
}

function namesOf(rules: readonly FieldRule[]): Names {
  const root: Names = { inside: new Map() }
  for (const { name } of rules) {
    let at = root
    for (const part of name.split('.')) {
      const next = at.inside.get(part) ?? { inside: new Map() }
      at.inside.set(part, next)
      at = next
    }
  }
  return root
}
