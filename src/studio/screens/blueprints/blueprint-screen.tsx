import { BlueprintEditor } from '../../editor/blueprint-editor.tsx'
import type { ScreenProps } from '../screen-registry.ts'

export function BlueprintScreen({ params }: ScreenProps) {
  return <BlueprintEditor guid={params.guid ?? ''} />
}
