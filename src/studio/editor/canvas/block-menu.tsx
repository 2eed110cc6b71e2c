import { Menu } from '@mantine/core'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { LaneFoldItem } from '../folds/fold-menu.tsx'
import { PinReplyItem } from '../runs/pin-reply.tsx'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { copySelected, drawResource, duplicateSelected, removeSelected } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
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
            {breakpoints.at.has(block) ? canvasTexts.removeBreakpoint : canvasTexts.pauseRunsHere}
          </Menu.Item>
          <Menu.Divider />
        </>
      ) : null}
      <PinReplyItem block={block} />
      <Menu.Item leftSection={<Icon name="edit" size={15} />} onClick={() => editor.focusPin(block, '')}>
        {canvasTexts.properties}
      </Menu.Item>
      <LeadItems block={block} />
      <Menu.Item leftSection={<Icon name="copy" size={15} />} onClick={() => void copySelected(editor)}>
        {canvasTexts.copy}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="plus" size={15} />} onClick={() => duplicateSelected(editor)}>
        {canvasTexts.duplicate}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="refresh" size={15} />}
        onClick={() => editor.set({ dialog: { kind: 'add', replace: block } })}
      >
        {canvasTexts.replaceWith}
      </Menu.Item>
      {catalogue.get(type)?.kind === 'trigger' ? null : (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'extract' } })}
        >
          {canvasTexts.extractToAFunction}
        </Menu.Item>
      )}
      <LaneFoldItem block={block} />
      {type === RESOURCE_TYPE ? (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => void drawResource(editor, block)}
        >
          {canvasTexts.asBlocks}
        </Menu.Item>
      ) : null}
      <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
        {canvasTexts.remove}
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
          {canvasTexts.goTo(called)}
        </Menu.Item>
      )}
      {called === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, called)}>
          {canvasTexts.findCallsOf(called)}
        </Menu.Item>
      )}
      {own === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, own)}>
          {canvasTexts.findItsCalls}
        </Menu.Item>
      )}
      {storage === undefined ? null : (
        <Menu.Item
          leftSection={<Icon name="data" size={15} />}
          onClick={() => chooseStorageInBlocks(editor, block)}
        >
          {canvasTexts.chooseInItsBlocks(storage)}
        </Menu.Item>
      )}
    </>
  )
}
