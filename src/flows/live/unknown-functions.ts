import { nearestName } from '../../shared/names/nearest-name.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { bounded, type DeployNote } from '../compile/notes/deploy-note.ts'
import type { LiveTable } from './live-blueprints.ts'

/** Names that a near one is looked for among. */
const MOST_NAMES = 1_000
/** Calls for which one is looked for; the others are not listed. */
const MOST_NEAR = 50

/** Calls of custom functions that neither the blueprint nor another active one has: each would fail when it runs. */
export function unknownFunctions(
  compiled: CompiledBlueprint,
  { blueprints }: LiveTable,
): readonly DeployNote[] {
  const tables = [compiled, ...[...blueprints.values()].map((live) => live.compiled)].filter(
    (one, at) => at === 0 || one.guid !== compiled.guid,
  )
  const missing = compiled.calls.filter(({ name }) => !tables.some(({ functions }) => functions.has(name)))
  if (missing.length === 0) return []
  const names = tables.flatMap(({ functions }) => [...functions.keys()]).slice(0, MOST_NAMES)
  const notes = missing.map(({ name, ...place }, at): DeployNote => {
    const near = at < MOST_NEAR ? nearestName(name, names) : undefined
    const meant = near === undefined ? '' : ` Did you mean ${near}?`
    const message = `There is no custom function ${name} here or in an active blueprint; the call fails until there is one.${meant}`
    return { ...place, message, level: 'warn' }
  })
  return bounded(notes, 'calls of unknown functions')
}
