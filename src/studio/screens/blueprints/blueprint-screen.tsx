import { BlueprintEditor } from '../../editor/blueprint-editor.tsx'
import type { ScreenProps } from '../screen-props.ts'

export function BlueprintScreen({ params }: ScreenProps) {
  return <BlueprintEditor guid={params.guid ?? ''} />
}
