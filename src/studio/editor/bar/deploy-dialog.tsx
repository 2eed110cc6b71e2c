import { Alert, Badge, Button, Group, Modal, ScrollArea, Skeleton, Stack, Text } from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { queryClient } from '../../api/query-client.ts'
import footClasses from '../../controls/dialog-foot.module.css'
import { useDialogRequest } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { OpenPage } from '../../controls/pages/open-page.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/editor.ts'
import { activate } from '../api/editor-api.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type BlockChange, diffFlows } from '../model/changes/flow-diff.ts'
import { type FlowPage, openablePagesOf } from '../model/endpoints.ts'
import type { Flow } from '../model/flow.ts'
import { entrancesOf } from '../model/words/open-to.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { CompareRuns } from './compare-runs.tsx'
import classes from './flow-diff-view.module.css'
import { FlowDiffView } from './flow-diff-view.tsx'
import { ProblemList } from './problem-list.tsx'
import { versionQuery } from './versions-dialog.tsx'

/** More do not fit beside a message; the bar lists all. */
const SHOWN = 3

interface DeployNoticeProps {
  readonly version: number
  readonly pages: readonly FlowPage[]
}

/** What is said after a deploy, with links to the pages that are live now. */
function DeployNotice({ version, pages }: DeployNoticeProps) {
  return (
    <>
      <Text size="sm">{barTexts.deployed(version)}</Text>
      {pages.length === 0 ? null : (
        <Group gap={12} mt={4}>
          {pages.slice(0, SHOWN).map(({ block, path }) => (
            <OpenPage key={block} path={path} label={barTexts.open(path)} />
          ))}
        </Group>
      )}
    </>
  )
}

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

function useDeploying(flow: Flow, onClose: () => void) {
  const editor = useEditor()
  return useDialogRequest({
    failed: barTexts.notDeployed,
    opened: true,
    onClose: () => {
      onClose()
      // When the dialog has gone.
      focusDrawingIn(300)
    },
    send: async () => {
      const { guid, blueprint } = editor.store.getState()
      // A press before what changes is shown counts from then on; where that cannot be read, nothing is deployed.
      await queryClient.ensureQueryData(versionQuery(guid, blueprint?.version ?? 0))
      await editor.save()
      const now = await activate(guid)
      editor.set({ blueprint: now })
      const pages = openablePagesOf(flow)
      notifyDone(<DeployNotice version={now.version} pages={pages} />, pages.length > 0 ? 12_000 : undefined)
      await editor.sync.refresh().catch(() => undefined)
    },
  })
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const broken = useEditorState(({ checked }) => checked.problems.length)
  const version = blueprint?.version ?? 0
  const guid = blueprint?._meta.guid ?? ''
  const deployed = useQuery(versionQuery(guid, version))
  const changes = useMemo(
    () => (deployed.data ? diffFlows(deployed.data, flow, catalogue) : []),
    [deployed.data, flow, catalogue],
  )
  const deploying = useDeploying(flow, onClose)
  // Now what is missing is an error.
  useEffect(() => editor.set({ fresh: new Map() }), [editor])
  const primary = useRef<HTMLButtonElement>(null)
  // Enter deploys, from the first moment on.
  useLayoutEffect(() => {
    if (broken === 0) primary.current?.focus({ preventScroll: true })
  }, [broken])
  return (
    <Stack gap="md">
      <Differences
        deployed={deployed}
        version={version}
        changes={changes}
        isActive={blueprint?.active === true}
      />
      <ScrollArea.Autosize mah="24vh" type="auto">
        <EntranceList flow={flow} catalogue={catalogue} />
      </ScrollArea.Autosize>
      <CheckResults onGo={onClose} />
      {version === 0 || changes.length === 0 ? null : <CompareRuns guid={guid} isReady={broken === 0} />}
      <ErrorNotice error={deploying.error} title={barTexts.notDeployed} />
      <Text size="xs" c="dimmed">
        {barTexts.zeroDowntime}
      </Text>
      <Group justify="flex-end" gap="xs" className={footClasses.foot}>
        <Button variant="default" onClick={onClose}>
          {barTexts.cancel}
        </Button>
        <Button
          ref={primary}
          data-autofocus
          loading={deploying.isPending}
          disabled={broken > 0 || deployed.isError}
          onClick={() => deploying.mutate()}
        >
          {blueprint?.active ? barTexts.saveAndDeploy : barTexts.saveDeployAndActivate}
        </Button>
      </Group>
    </Stack>
  )
}

interface DifferencesProps {
  readonly deployed: Pick<UseQueryResult<Flow>, 'error' | 'isPending' | 'isSuccess' | 'refetch'>
  readonly version: number
  readonly changes: readonly BlockChange[]
  readonly isActive: boolean
}

/** What a deploy would change. */
function Differences({ deployed, version, changes, isActive }: DifferencesProps) {
  if (deployed.isPending) return <Skeleton role="status" aria-label={barTexts.readingDeployed} height={120} />
  if (!deployed.isSuccess) return <ErrorNotice error={deployed.error} onRetry={deployed.refetch} />
  return (
    <>
      <Text size="sm">
        {barTexts.whatDeploys(version, changes.length, isActive ? barTexts.isLive : barTexts.wasDeployedLast)}
      </Text>
      <ScrollArea.Autosize mah="46vh" type="auto">
        <FlowDiffView changes={changes} />
      </ScrollArea.Autosize>
    </>
  )
}

/** What keeps it from running, and what is probably a mistake. */
function CheckResults({ onGo }: { readonly onGo: () => void }) {
  const { problems, notes } = useEditorState(({ checked }) => checked)
  const broken = problems.length
  return (
    <>
      {broken === 0 ? null : (
        <Alert color="red" variant="light" title={barTexts.brokenBy(countsTexts.problems(broken), broken)}>
          <ProblemList of="problems" onGo={onGo} />
        </Alert>
      )}
      {notes.length === 0 ? null : (
        <Alert color="sand" variant="light" title={countsTexts.warnings(notes.length)}>
          <ProblemList of="notes" onGo={onGo} />
        </Alert>
      )}
    </>
  )
}

interface EntranceListProps {
  readonly flow: Flow
  readonly catalogue: Catalogue
}

/** Who may call each endpoint and open each page once the flow is deployed, also where nothing changes. */
function EntranceList({ flow, catalogue }: EntranceListProps) {
  const entrances = useMemo(() => entrancesOf(flow, catalogue), [flow, catalogue])
  if (entrances.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600} id="entrances">
        {barTexts.whoMayOpenIt}
      </Text>
      <table className={`${classes.lines} ${classes.entrances}`} aria-labelledby="entrances">
        <tbody>
          {entrances.map(({ block, name, openTo, isPublic }) => (
            <tr key={block}>
              <th scope="row">{name}</th>
              <td>
                {openTo}
                {isPublic ? (
                  <Badge size="xs" color="sand" ml={8}>
                    {barTexts.noSignIn}
                  </Badge>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Stack>
  )
}
