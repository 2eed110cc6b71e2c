import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFlow } from '../compile/frame.ts'

/** The flows of all triggers of a blueprint. */
export function flowsOf(compiled: CompiledBlueprint): readonly CompiledFlow[] {
  const { endpoints, pages, functions, storageEvents, schedules, failureEvents } = compiled
  const events = [...storageEvents, ...schedules, ...failureEvents]
  return [...endpoints, ...pages, ...functions.values(), ...events].map(({ flow }) => flow)
}
