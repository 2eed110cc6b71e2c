import { Menu, Portal } from '@mantine/core'
import { type MouseEvent, useCallback, useState } from 'react'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { focusDrawing } from '../frame/focus-drawing.ts'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { copySelected, drawResource, duplicateSelected, removeSelected } from '../state/editor-deeds.ts'

interface OpenMenu {
  readonly block: string
  readonly x: number
  readonly y: number
}

/** The menu of a block, by the right button of the mouse or the menu key. */
export function useBlockMenu() {
  const editor = useEditor()
  const [at, setAt] = useState<OpenMenu>()
  const open = useCallback(
    (event: MouseEvent, { id }: { readonly id: string }) => {
      if (!editor.store.getState().drawing.flow.has(id)) return
      event.preventDefault()
      // The menu key has no place: then it opens at the block's corner.
      const box = event.currentTarget.getBoundingClientRect()
      const isKey = event.clientX === 0 && event.clientY === 0
      const x = isKey ? box.left + 20 : event.clientX
      const y = isKey ? box.top + 20 : event.clientY
      const { selection } = editor.store.getState()
      if (!selection.has(id)) editor.select([id])
      setAt({ block: id, x, y })
    },
    [editor],
  )
  return { at, open, close: () => setAt(undefined) }
}

export function BlockMenu({ menu }: { readonly menu: ReturnType<typeof useBlockMenu> }) {
  const editor = useEditor()
  const { at, close } = menu
  const breakpoints = useBreakpoints()
  const type = useEditorState(({ drawing }) => drawing.flow.get(at?.block ?? '')?.type)
  const catalogue = useEditorState((state) => state.catalogue)
  if (!at) return null
  const has = breakpoints.at.has(at.block)
  return (
    <Portal>
      <div style={{ position: 'fixed', left: at.x, top: at.y }}>
        <Menu opened onClose={close} onExitTransitionEnd={focusDrawing} position="bottom-start" width={230}>
          <Menu.Target>
            <span />
          </Menu.Target>
          <Menu.Dropdown>
            {catalogue.get(type ?? '')?.kind === 'flow' ? (
              <>
                <Menu.Item
                  leftSection={<Icon name="pause" size={15} />}
                  rightSection="B"
                  onClick={() => breakpoints.toggle(at.block)}
                >
                  {has ? 'Remove breakpoint' : 'Pause runs here'}
                </Menu.Item>
                <Menu.Divider />
              </>
            ) : null}
            <Menu.Item
              leftSection={<Icon name="edit" size={15} />}
              onClick={() => editor.focusPin(at.block, '')}
            >
              Properties
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="copy" size={15} />} onClick={() => void copySelected(editor)}>
              Copy
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="plus" size={15} />} onClick={() => duplicateSelected(editor)}>
              Duplicate
            </Menu.Item>
            {type === RESOURCE_TYPE ? (
              <Menu.Item
                leftSection={<Icon name="blueprint" size={15} />}
                onClick={() => void drawResource(editor, at.block)}
              >
                As blocks
              </Menu.Item>
            ) : null}
            <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
              Remove
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
    </Portal>
  )
}
