import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { tryTexts } from '../../texts/try.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { clickedBlock, outlineBlocks, type PagePart, partsOf } from './page-parts.ts'
import classes from './preview.module.css'

interface PreviewFrameProps {
  readonly html: string
  /** Of the screen that is shown; scaled down to the place that there is. */
  readonly width: number
  /** Told when the page is there. */
  readonly onParts: (parts: readonly PagePart[]) => void
}

/** Readable on light and dark pages. */
const OUTLINE = '#1c7ed6'

/**
 * A page without rights: its `sandbox` keeps its scripts from running, its forms from being sent and its links from leaving the
 * frame, where the policy of the studio stops them. `allow-same-origin` lets the studio read it; a page that runs no script cannot
 * make use of it. A click selects the block that made what is clicked.
 */
export function PreviewFrame({ html, width, onParts }: PreviewFrameProps) {
  const editor = useEditor()
  const selection = useEditorState((state) => state.selection)
  const { ref, width: room, height } = useElementSize()
  const frame = useRef<HTMLIFrameElement>(null)
  const [loads, setLoads] = useState(0)
  const scale = room === 0 ? 1 : Math.min(1, room / width)
  const isKnown = (block: string) => editor.store.getState().drawing.flow.has(block)

  // biome-ignore lint/correctness/useExhaustiveDependencies: each load is another document
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (page) outlineBlocks(page, selection, OUTLINE)
  }, [selection, loads])

  const loaded = () => {
    const page = frame.current?.contentDocument
    if (!page) return
    page.addEventListener('click', (event) => {
      // Links and buttons lead nowhere here; what opens and closes does.
      if (page.elementFromPoint(event.clientX, event.clientY)?.closest('a, button')) event.preventDefault()
      const block = clickedBlock(page, event, isKnown)
      if (block !== undefined) editor.focusPin(block, '')
    })
    onParts(partsOf(page, isKnown))
    setLoads((count) => count + 1)
  }

  return (
    <div ref={ref} className={classes.place}>
      <iframe
        ref={frame}
        title={tryTexts.previewOfThePage}
        sandbox="allow-same-origin"
        srcDoc={html}
        onLoad={loaded}
        className={classes.frame}
        style={{ width, height: height / scale, transform: `scale(${scale})` }}
      />
    </div>
  )
}
