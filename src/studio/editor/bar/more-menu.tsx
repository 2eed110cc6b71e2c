import { ActionIcon, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { assistantQuery } from '../../api/applications.ts'
import { Icon } from '../../controls/icon.tsx'
import { barTexts, tryTexts } from '../../texts/bar.ts'
import { runsTexts } from '../../texts/runs.ts'
import { stagedBy } from '../model/changes/staged-blocks.ts'
import { pagesOf } from '../model/endpoints.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { useStageActions } from './use-stage-actions.ts'

/** What is done less often, and on a phone also what has no room in the bar. */
export function MoreMenu({ isPhone }: { readonly isPhone: boolean }) {
  const editor = useEditor()
  const isActive = useEditorState(({ blueprint }) => blueprint?.active === true)
  const { activateNow, deactivateNow } = useStageActions()
  const { data: assistant } = useQuery(assistantQuery)
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={barTexts.more}>
          <Icon name="more" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isPhone ? <PhoneItems /> : null}
        <Menu.Item
          leftSection={<Icon name="check" size={15} />}
          onClick={() => editor.set({ panel: 'tests' })}
        >
          {runsTexts.tests}
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="history" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'versions' } })}
        >
          {barTexts.versions}
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="help" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'explain' } })}
        >
          {barTexts.why404}
        </Menu.Item>
        {assistant?.on === true ? (
          <Menu.Item
            leftSection={<Icon name="text" size={15} />}
            onClick={() => editor.set({ dialog: { kind: 'describe' } })}
          >
            {barTexts.describe}
          </Menu.Item>
        ) : null}
        <Menu.Divider />
        {isActive ? (
          <Menu.Item leftSection={<Icon name="pause" size={15} />} onClick={deactivateNow}>
            {barTexts.deactivate}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<Icon name="play" size={15} />} onClick={activateNow}>
            {barTexts.activate}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function PhoneItems() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const isPreviewing = useEditorState((state) => state.isPreviewing)
  const isStaged = useEditorState(({ known }) => stagedBy(known).length > 0)
  const hasPages = useMemo(() => pagesOf(flow).length > 0, [flow])
  return (
    <>
      {hasPages ? (
        <Menu.Item
          leftSection={<Icon name={isPreviewing ? 'check' : 'external'} size={15} />}
          onClick={() => editor.set({ isPreviewing: !isPreviewing })}
        >
          {tryTexts.preview}
        </Menu.Item>
      ) : null}
      {isStaged ? (
        <Menu.Item
          leftSection={<Icon name="restore" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'discard' } })}
        >
          {barTexts.discardStagedChanges}
        </Menu.Item>
      ) : null}
    </>
  )
}
