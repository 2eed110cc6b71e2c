import {
  Alert,
  Badge,
  Button,
  Group,
  Modal,
  ScrollArea,
  Select,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { VersionSummary } from '../../../shared/api/blueprints/blueprints.ts'
import { confirm } from '../../controls/confirm.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/editor.ts'
import { listVersions, rollBack, versionBlocks } from '../api/editor-api.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { type Flow, flowOfVersion } from '../model/flow.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { FlowDiffView } from './flow-diff-view.tsx'
import classes from './versions-dialog.module.css'

/** What was deployed before: compare any two, and let a former one answer again. */
export function VersionsDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'versions')
  const close = () => editor.set({ dialog: undefined })
  return (
    <Modal opened={opened} onClose={close} title={<Text fw={650}>{barTexts.versions}</Text>} size={860}>
      {opened ? <Content onClose={close} /> : null}
    </Modal>
  )
}

function Content({ onClose }: { readonly onClose: () => void }) {
  const guid = useEditorState((state) => state.guid)
  const versions = useQuery({
    queryKey: ['versions', guid],
    queryFn: ({ signal }) => listVersions(guid, signal),
    staleTime: 0,
  })
  const [chosen, setChosen] = useState<number>()
  if (versions.isPending) return <LoadingScreen />
  if (versions.error) return <ErrorNotice error={versions.error} onRetry={versions.refetch} />
  const list = versions.data
  const shown = list.find(({ number }) => number === chosen) ?? list[0]
  if (!shown) return <Text c="dimmed">{barTexts.noVersions}</Text>
  return (
    <div className={classes.columns}>
      <ScrollArea.Autosize mah={{ base: '24vh', sm: '60vh' }} type="auto" className={classes.list}>
        {list.map((version) => (
          <UnstyledButton
            key={version.number}
            className={classes.version}
            aria-current={version === shown}
            onClick={() => setChosen(version.number)}
          >
            <Group gap={6} justify="space-between" wrap="nowrap">
              <b>{barTexts.version(version.number)}</b>
              {version.live ? <Badge size="xs">{barTexts.now}</Badge> : null}
            </Group>
            <Text size="xs" c="dimmed">
              <Time at={version.deployed} />{' '}
              {barTexts.versionBy(version.by.username || barTexts.quoin, countsTexts.blocks(version.blocks))}
            </Text>
          </UnstyledButton>
        ))}
      </ScrollArea.Autosize>
      <Comparison key={shown.number} list={list} shown={shown} onClose={onClose} />
    </div>
  )
}

interface ComparisonProps {
  readonly list: readonly VersionSummary[]
  readonly shown: VersionSummary
  readonly onClose: () => void
}

const DRAWN = 'drawn'

function Comparison({ list, shown, onClose }: ComparisonProps) {
  const editor = useEditor()
  const guid = useEditorState((state) => state.guid)
  const drawn = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const live = list.find((one) => one.live)
  const before = list.find(({ number }) => number === shown.number - 1)
  const [against, setAgainst] = useState(
    shown.live ? String(before?.number ?? DRAWN) : String(live?.number ?? DRAWN),
  )
  const one = useQuery(versionQuery(guid, shown.number))
  const other = useQuery(versionQuery(guid, against === DRAWN ? undefined : Number(against)))
  const from = against === DRAWN ? drawn : other.data
  const changes = useMemo(
    () => (one.data && from ? diffFlows(from, one.data, catalogue) : []),
    [one.data, from, catalogue],
  )
  const roll = async () => {
    const blueprint = await rollBack(guid, shown.number)
    editor.set({ blueprint, dialog: undefined })
    notifyDone(barTexts.rolledBack(shown.number, blueprint.version))
    await editor.sync.refresh()
    if (one.data && diffFlows(one.data, editor.store.getState().drawing.flow, catalogue).length > 0)
      editor.set({ dialog: { kind: 'differs' } })
  }
  const askToRoll = () =>
    confirm({
      title: barTexts.rollBackTo(shown.number),
      text: barTexts.rollBackText(shown.number),
      action: barTexts.rollBackNow,
      run: roll,
    })
  const takeBack = () => {
    if (!one.data) return
    const flow = one.data
    editor.run(barTexts.takeVersion(shown.number), () => flow)
    onClose()
  }
  return (
    <Stack gap="sm" className={classes.detail}>
      <Group justify="space-between" align="flex-end">
        <Select
          size="xs"
          w={220}
          label={barTexts.changesAgainst(shown.number)}
          value={against}
          allowDeselect={false}
          onChange={(next) => setAgainst(next ?? DRAWN)}
          data={[
            { value: DRAWN, label: barTexts.theCanvas },
            ...list
              .filter(({ number }) => number !== shown.number)
              .map(({ number, live: isLive }) => ({
                value: String(number),
                label: barTexts.versionNamed(number, isLive ? barTexts.liveVersion : ''),
              })),
          ]}
        />
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={takeBack}>
            {barTexts.editThisVersion}
          </Button>
          <Button size="xs" disabled={shown.live} onClick={askToRoll}>
            {barTexts.rollBack}
          </Button>
        </Group>
      </Group>
      <ErrorNotice error={one.error ?? other.error} />
      {shown.live ? null : (
        <Alert variant="light" color="sand" p="xs">
          <Text size="xs">{barTexts.rollBackHelp}</Text>
        </Alert>
      )}
      <ScrollArea.Autosize mah="44vh" type="auto">
        {changes.length === 0 && one.data && from ? (
          <Text size="sm">{barTexts.versionsEqual}</Text>
        ) : (
          <FlowDiffView changes={changes} />
        )}
      </ScrollArea.Autosize>
    </Stack>
  )
}

/** The blocks of a version. They never change, so they are read once. */
export const versionQuery = (guid: string, number: number | undefined) =>
  queryOptions({
    queryKey: ['version', guid, number],
    queryFn: async ({ signal }): Promise<Flow> =>
      number === 0 ? new Map() : flowOfVersion(await versionBlocks(guid, number ?? 0, signal)),
    enabled: number !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
