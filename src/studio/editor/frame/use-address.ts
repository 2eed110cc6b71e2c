import { useEffect } from 'react'
import { useEditor } from '../state/editor-context.ts'

/**
 * The address says what is shown: `?view=outline&block=<guid>&panel=try`. It can be linked to; going through blocks leaves
 * no trail in the history of the browser.
 */
export function useAddress(): void {
  const editor = useEditor()
  useEffect(() => {
    const given = new URLSearchParams(location.search)
    const block = given.get('block')
    editor.set({
      view: given.get('view') === 'outline' ? 'outline' : 'canvas',
      panel: given.get('panel') === 'try' ? 'try' : 'properties',
    })
    if (block !== null && editor.store.getState().drawing.flow.has(block)) editor.focusPin(block, '')
    return editor.store.subscribe(({ view, panel, selection, drawing }, before) => {
      if (view === before.view && panel === before.panel && selection === before.selection) return
      const words = new URLSearchParams(location.search)
      const [only] = selection
      put(words, 'view', view === 'outline' ? view : '')
      put(words, 'panel', panel === 'try' ? panel : '')
      put(words, 'block', selection.size === 1 && only !== undefined && drawing.flow.has(only) ? only : '')
      const search = words.size > 0 ? `?${words}` : ''
      if (search !== location.search) history.replaceState(history.state, '', `${location.pathname}${search}`)
    })
  }, [editor])
}

function put(words: URLSearchParams, name: string, value: string): void {
  if (value === '') words.delete(name)
  else words.set(name, value)
}
