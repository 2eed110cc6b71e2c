import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { LoadingScreen } from '../../controls/loading-screen.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { barTexts } from '../../texts/bar.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { FlowDiffView } from './flow-diff-view.tsx'
import { useVersion } from './use-version.ts'

/** After a roll back, or whenever what is saved is not what is live: take over what is live, or keep what is drawn. */
export function DiffersDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'differs')
  const close = () => editor.set({ dialog: undefined })
  return (
    <Modal opened={opened} onClose={close} title={<Text fw={650}>{barTexts.canvasDiffers}</Text>} size="lg">
      {opened ? <Content onClose={close} /> : null}
    </Modal>
  )
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const editor = useEditor()
  const guid = useEditorState((state) => state.guid)
  const number = useEditorState(({ blueprint }) => blueprint?.version ?? 0)
  const drawn = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const live = useVersion(guid, number)
  const changes = useMemo(
    () => (live.data ? diffFlows(live.data, drawn, catalogue) : []),
    [live.data, drawn, catalogue],
  )
  const taking = useMutation({
    mutationFn: async () => {
      const flow = live.data
      if (!flow) return
      editor.run(barTexts.takeVersion(number), () => flow)
      await editor.save()
    },
    onSuccess: () => {
      notifyDone(barTexts.tookOver(number))
      onClose()
    },
  })
  if (live.isPending) return <LoadingScreen />
  if (live.error) return <ErrorNotice error={live.error} onRetry={live.refetch} />
  return (
    <Stack gap="md">
      <Text size="sm">
        {changes.length === 0 ? barTexts.versionsEqual : barTexts.canvasDiffersText(number)}
      </Text>
      <ScrollArea.Autosize mah="46vh" type="auto">
        <FlowDiffView changes={changes} />
      </ScrollArea.Autosize>
      <ErrorNotice error={taking.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" data-autofocus onClick={onClose}>
          {barTexts.keepMine}
        </Button>
        <Button loading={taking.isPending} onClick={() => taking.mutate()}>
          {barTexts.takeOver(number)}
        </Button>
      </Group>
    </Stack>
  )
}
