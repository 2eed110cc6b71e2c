import { Menu } from '@mantine/core'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { LaneFoldItem } from '../folds/fold-menu.tsx'
import { PinReplyItem } from '../runs/pin-reply.tsx'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { copySelected, drawResource, duplicateSelected, removeSelected } from '../state/editor-deeds.ts'
import { chooseStorageInBlocks, goToFunction, leadsOf, showCalls } from '../state/editor-gestures.ts'

/** What the menu of a block offers. */
export function BlockMenuItems({ block }: { readonly block: string }) {
  const editor = useEditor()
  const breakpoints = useBreakpoints()
  const type = useEditorState(({ drawing }) => drawing.flow.get(block)?.type) ?? ''
  const catalogue = useEditorState((state) => state.catalogue)
  return (
    <>
      {catalogue.get(type)?.kind === 'flow' ? (
        <>
          <Menu.Item
            leftSection={<Icon name="pause" size={15} />}
            rightSection="B"
            onClick={() => breakpoints.toggle(block)}
          >
            {breakpoints.at.has(block) ? 'Remove breakpoint' : 'Pause runs here'}
          </Menu.Item>
          <Menu.Divider />
        </>
      ) : null}
      <PinReplyItem block={block} />
      <Menu.Item leftSection={<Icon name="edit" size={15} />} onClick={() => editor.focusPin(block, '')}>
        Properties
      </Menu.Item>
      <LeadItems block={block} />
      <Menu.Item leftSection={<Icon name="copy" size={15} />} onClick={() => void copySelected(editor)}>
        Copy
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="plus" size={15} />} onClick={() => duplicateSelected(editor)}>
        Duplicate
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="refresh" size={15} />}
        onClick={() => editor.set({ dialog: { kind: 'add', replace: block } })}
      >
        Replace with …
      </Menu.Item>
      {catalogue.get(type)?.kind === 'trigger' ? null : (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'extract' } })}
        >
          Extract to a function
        </Menu.Item>
      )}
      <LaneFoldItem block={block} />
      {type === RESOURCE_TYPE ? (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => void drawResource(editor, block)}
        >
          As blocks
        </Menu.Item>
      ) : null}
      <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
        Remove
      </Menu.Item>
    </>
  )
}

/** To the function that it calls, to the calls of the function that it is, and its storage into the blocks that use it. */
function LeadItems({ block }: { readonly block: string }) {
  const editor = useEditor()
  const { called, own, storage } = leadsOf(editor, block)
  return (
    <>
      {called === undefined ? null : (
        <Menu.Item leftSection={<Icon name="arrow" size={15} />} onClick={() => goToFunction(editor, called)}>
          Go to {called}
        </Menu.Item>
      )}
      {called === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, called)}>
          Find all calls of {called}
        </Menu.Item>
      )}
      {own === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, own)}>
          Find its calls
        </Menu.Item>
      )}
      {storage === undefined ? null : (
        <Menu.Item
          leftSection={<Icon name="data" size={15} />}
          onClick={() => chooseStorageInBlocks(editor, block)}
        >
          Choose {storage} in its blocks
        </Menu.Item>
      )}
    </>
  )
}
