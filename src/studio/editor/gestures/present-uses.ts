import type { FunctionPlace, FunctionUses } from '../../../shared/api/blocks/blocks.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import type { Flow } from '../model/flow.ts'
import { callsOf, ownFunction } from './function-blocks.ts'

/** The uses of a function with those of the open blueprint as they are drawn, which the server may not have yet. They come first. */
export function presentUses(
  { functions, calls, whole }: FunctionUses,
  flow: Flow,
  open: { readonly guid: string; readonly title: string },
  name: string,
): FunctionUses {
  const names = namesInFlow(flow)
  const here = (guids: readonly string[]): FunctionPlace[] =>
    guids.map((block) => ({
      ...{ blueprint: open.guid, blueprint_name: open.title, block },
      ...{ type: flow.get(block)?.type ?? '', name: names.get(block) ?? '' },
      title: flow.get(block)?.title ?? '',
    }))
  const elsewhere = (places: readonly FunctionPlace[]) =>
    places.filter(({ blueprint }) => blueprint !== open.guid)
  const own = [...flow.keys()].filter((guid) => ownFunction(flow, guid) === name)
  return {
    functions: [...here(own), ...elsewhere(functions)],
    calls: [...here(callsOf(flow, name)), ...elsewhere(calls)],
    whole,
  }
}
