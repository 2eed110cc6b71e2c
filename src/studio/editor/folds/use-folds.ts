import { useMemo } from 'react'
import { useEditorState } from '../state/editor-context.ts'
import { type Folds, foldsOf } from './folds.ts'

/** What is drawn as one box now. */
export function useFolds(): Folds {
  const drawing = useEditorState((state) => state.drawing)
  const catalogue = useEditorState((state) => state.catalogue)
  const opened = useEditorState((state) => state.opened)
  return useMemo(() => foldsOf(drawing, catalogue, opened), [drawing, catalogue, opened])
}
