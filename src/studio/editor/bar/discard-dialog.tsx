import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { barTexts } from '../../texts/bar.ts'
import { discardStaged } from '../api/editor-api.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { savedFlow, stagedBy, stagedFlow } from '../model/changes/staged-blocks.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { FlowDiffView } from './flow-diff-view.tsx'

/** Shows what would be lost, and whose it is, before it is. */
export function DiscardDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'discard')
  const close = () => editor.set({ dialog: undefined })
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={<Text fw={650}>{barTexts.discardStagedChanges}</Text>}
      size="lg"
    >
      {opened ? <Content onClose={close} /> : null}
    </Modal>
  )
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const editor = useEditor()
  const guid = useEditorState((state) => state.guid)
  const known = useEditorState((state) => state.known)
  const catalogue = useEditorState((state) => state.catalogue)
  const changes = useMemo(() => diffFlows(savedFlow(known), stagedFlow(known), catalogue), [known, catalogue])
  const by = stagedBy(known)
  const discarding = useMutation({
    mutationFn: async () => {
      await editor.sync.settled()
      await discardStaged(guid)
      await editor.sync.refresh()
    },
    onSuccess: () => {
      notifyDone(barTexts.discarded)
      onClose()
    },
  })
  return (
    <Stack gap="md">
      <Text size="sm">
        {barTexts.discardText(
          by.length,
          by.map((one) => barTexts.blocksBy(one.blocks, one.username)).join(', '),
        )}
      </Text>
      <ScrollArea.Autosize mah="46vh" type="auto">
        <FlowDiffView changes={changes} />
      </ScrollArea.Autosize>
      <ErrorNotice error={discarding.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" data-autofocus onClick={onClose}>
          {barTexts.cancel}
        </Button>
        <Button color="red" loading={discarding.isPending} onClick={() => discarding.mutate()}>
          {barTexts.discard}
        </Button>
      </Group>
    </Stack>
  )
}
