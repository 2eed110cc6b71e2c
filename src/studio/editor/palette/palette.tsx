import { ActionIcon, Tooltip } from '@mantine/core'
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { paletteTexts } from '../../texts/editor.ts'
import { focusDrawing, focusDrawingIn } from '../frame/focus-drawing.ts'
import { addBlock } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { BlockList } from './block-list.tsx'
import { addChosen } from './found-operations.ts'
import classes from './palette.module.css'

/**
 * All blocks, to drag onto the canvas, or to add with a click. It can be put away; on a tablet it is, until the user wants a
 * block, and goes by itself when one was chosen.
 */
export function Palette() {
  const editor = useEditor()
  const catalogue = useEditorState((state) => state.catalogue)
  const blocks = useMemo(() => [...new Set(catalogue.values())], [catalogue])
  const isNarrow = useMediaQuery('(max-width: 1100px)', undefined, { getInitialValueInEffect: false })
  const [isShown, keep] = useLocalStorage({
    key: 'quoin.palette',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  const [isDrawn, draw] = useState(false)
  const [wasOpened, setWasOpened] = useState(false)
  const show = (open: boolean) => {
    setWasOpened(open)
    if (isNarrow) draw(open)
    else keep(open)
  }
  const isOpen = isNarrow ? isDrawn : isShown
  const list = useRef<HTMLDivElement>(null)
  // A user who opens the palette will search in it.
  useEffect(() => {
    if (isOpen && wasOpened) list.current?.querySelector('input')?.focus()
  }, [isOpen, wasOpened])
  if (!isOpen)
    return (
      <div className={classes.shut}>
        <Tooltip label={paletteTexts.blocksToAdd} position="right">
          <ActionIcon
            variant="default"
            size={30}
            aria-label={paletteTexts.showTheBlocks}
            onClick={() => show(true)}
          >
            <Icon name="plus" size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
    )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isNarrow) return
    event.stopPropagation()
    show(false)
    focusDrawing()
  }
  return (
    <div className={classes.place}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape puts it away wherever the keyboard is in it */}
      <div ref={list} className={classes.open} onKeyDown={onKeyDown}>
        <BlockList
          blocks={blocks}
          draggable
          beside={
            <Tooltip label={paletteTexts.hideTheBlocks}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={paletteTexts.hideTheBlocks}
                onClick={() => show(false)}
              >
                <Icon name="close" size={14} />
              </ActionIcon>
            </Tooltip>
          }
          onChoose={({ identifier }) => {
            void addChosen(editor, identifier, (type) => addBlock(editor, type, editor.eye()))
            if (isNarrow) draw(false)
            // The first field that the block needs has the keyboard.
            if (editor.store.getState().focus.pin === '') focusDrawingIn(50)
          }}
        />
      </div>
    </div>
  )
}
