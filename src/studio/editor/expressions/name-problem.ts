import { isBlockName } from '../../../shared/names/block-name.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import type { Flow } from '../model/flow.ts'
import { namesInFlow } from './block-refs.ts'

/** Why a block cannot have this name, or undefined. */
export function nameProblem(name: string, guid: string, flow: Flow): string | undefined {
  if (!isBlockName(name)) return propertiesTexts.nameRule
  for (const [other, taken] of namesInFlow(flow))
    if (other !== guid && taken === name) return propertiesTexts.nameTaken(name)
  return undefined
}
