import { Alert, Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { LoadingScreen } from '../../controls/loading-screen.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/counts.ts'
import { activate } from '../api/editor-api.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { openablePagesOf } from '../model/flow-pages.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { DeployedNews } from './deployed-news.tsx'
import { EntranceList } from './entrance-list.tsx'
import { FlowDiffView } from './flow-diff-view.tsx'
import { ProblemList } from './problem-list.tsx'
import { useVersion } from './use-version.ts'

/** What a deploy would change, before it does. */
export function DeployDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'deploy')
  const close = () => editor.set({ dialog: undefined })
  return (
    <Modal opened={opened} onClose={close} title={<Text fw={650}>{barTexts.deploy}</Text>} size="lg">
      {opened ? <Content onClose={close} /> : null}
    </Modal>
  )
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const checked = useEditorState((state) => state.checked)
  const version = blueprint?.version ?? 0
  const guid = blueprint?._meta.guid ?? ''
  const deployed = useVersion(guid, version)
  const changes = useMemo(
    () => (deployed.data ? diffFlows(deployed.data, flow, catalogue) : []),
    [deployed.data, flow, catalogue],
  )
  const deploying = useMutation({
    mutationFn: async () => {
      await editor.save()
      return activate(guid)
    },
    onSuccess: async (now) => {
      editor.set({ blueprint: now })
      const pages = openablePagesOf(flow)
      notifyDone(<DeployedNews version={now.version} pages={pages} />, pages.length > 0 ? 12_000 : undefined)
      onClose()
      // When the dialog has gone.
      focusDrawingIn(300)
      await editor.sync.refresh()
    },
  })
  // Now what is missing is an error.
  useEffect(() => editor.set({ fresh: new Map() }), [editor])
  const primary = useRef<HTMLButtonElement>(null)
  const broken = checked.problems.length
  const isReady = deployed.isSuccess && broken === 0
  // Enter deploys once there is something to read. What was read before is there when the dialog looks for the button itself.
  useEffect(() => {
    if (isReady) primary.current?.focus()
  }, [isReady])
  if (deployed.isPending) return <LoadingScreen />
  if (deployed.error) return <ErrorNotice error={deployed.error} onRetry={deployed.refetch} />
  return (
    <Stack gap="md">
      <Text size="sm">
        {barTexts.whatDeploys(
          version,
          changes.length,
          blueprint?.active ? barTexts.isLive : barTexts.wasDeployedLast,
        )}
      </Text>
      <ScrollArea.Autosize mah="46vh" type="auto">
        <FlowDiffView changes={changes} />
      </ScrollArea.Autosize>
      <ScrollArea.Autosize mah="24vh" type="auto">
        <EntranceList flow={flow} catalogue={catalogue} />
      </ScrollArea.Autosize>
      {broken === 0 ? null : (
        <Alert color="red" variant="light" title={barTexts.brokenBy(countsTexts.problems(broken), broken)}>
          <ProblemList of="problems" onGo={onClose} />
        </Alert>
      )}
      {checked.notes.length === 0 ? null : (
        <Alert color="yellow" variant="light" title={countsTexts.warnings(checked.notes.length)}>
          <ProblemList of="notes" onGo={onClose} />
        </Alert>
      )}
      <ErrorNotice error={deploying.error} title={barTexts.notDeployed} />
      <Text size="xs" c="dimmed">
        {barTexts.zeroDowntime}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {barTexts.cancel}
        </Button>
        <Button
          ref={primary}
          data-autofocus
          loading={deploying.isPending}
          disabled={broken > 0}
          onClick={() => deploying.mutate()}
        >
          {blueprint?.active ? barTexts.saveAndDeploy : barTexts.saveDeployAndActivate}
        </Button>
      </Group>
    </Stack>
  )
}
