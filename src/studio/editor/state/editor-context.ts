import { createContext, useContext } from 'react'
import { useStore } from 'zustand'
import { editorTexts } from '../../texts/editor.ts'
import type { Editor } from './editor.ts'
import type { EditorState } from './editor-state.ts'

const EditorContext = createContext<Editor | undefined>(undefined)
export const EditorProvider = EditorContext.Provider

export function useEditor(): Editor {
  const editor = useContext(EditorContext)
  if (!editor) throw new Error(editorTexts.outside)
  return editor
}

/** A part of the editor's state; drawn again only when that part changes. */
export function useEditorState<T>(pick: (state: EditorState) => T): T {
  return useStore(useEditor().store, pick)
}
