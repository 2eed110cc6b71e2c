import { isBlockName } from '../../../shared/names/block-name.ts'
import type { Flow } from '../model/flow.ts'
import { namesInFlow } from './block-refs.ts'

/** Why a block cannot have this name, or undefined. */
export function nameProblem(name: string, guid: string, flow: Flow): string | undefined {
  if (!isBlockName(name))
    return 'A name starts with a letter and has at most 63 letters, digits and underscores.'
  for (const [other, taken] of namesInFlow(flow))
    if (other !== guid && taken === name) return `Another block is named ${name}. Choose another name.`
  return undefined
}
