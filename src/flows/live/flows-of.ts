import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFlow } from '../compile/frame.ts'

/** The flows of all triggers of a blueprint. */
export function flowsOf(compiled: CompiledBlueprint): readonly CompiledFlow[] {
  const { endpoints, pages, functions, storageEvents, schedules } = compiled
  return [...endpoints, ...pages, ...functions.values(), ...storageEvents, ...schedules].map(
    ({ flow }) => flow,
  )
}
