/** Calls of the function that the hooks of a resource are, and what tells them apart. */
import { type ResourceHook, resourceHooks } from './resource.ts'
import type { ResourcePart, ResourcePlan } from './resource-plan.ts'

export function hookCall(
  { hookFunction }: ResourcePlan,
  hook: ResourceHook,
  flow: string,
  given: Readonly<Record<string, string>>,
  at: readonly [number, number],
): ResourcePart {
  return {
    type: 'function_custom_execute',
    in: { flow, function: hookFunction, hook, ...given, user: '=user' },
    fields: { parameters: ['hook', ...Object.keys(given), 'user'] },
    at,
  }
}

/** Behind the function that the hooks are: the way of each. */
export function hookSwitch(hub: string): ResourcePart {
  return {
    type: 'switch',
    in: { flow: `@${hub}.flow`, value: `@${hub}.hook` },
    fields: { cases: [...resourceHooks] },
    at: [1, 14],
  }
}
