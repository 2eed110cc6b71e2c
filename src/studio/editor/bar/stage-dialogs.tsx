import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { applicationOf } from '../../api/applications.ts'
import { useDialogRequest } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { barTexts } from '../../texts/bar.ts'
import { controlsTexts } from '../../texts/shell.ts'
import { discardStaged } from '../api/editor-api.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import type { Conflict } from '../model/changes/reconcile.ts'
import { savedFlow, stagedBy, stagedFlow } from '../model/changes/staged-blocks.ts'
import { type emptyFlow, withBlock } from '../model/flow.ts'
import { nameOf } from '../model/words/block-names.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { DeployDialog } from './deploy-dialog.tsx'
import { ExplainDialog } from './explain-dialog.tsx'
import { FlowDiffView } from './flow-diff-view.tsx'
import { VersionsDialog, versionQuery } from './versions-dialog.tsx'

/** The dialogs of the bar. They are fetched together, when what one sees first stands. */
export function StageDialogs() {
  return (
    <>
      <DeployDialog />
      <DiscardDialog />
      <VersionsDialog />
      <DiffersDialog />
      <ExplainDialog />
      <ConflictDialog />
      <DescribeDialog />
    </>
  )
}

/** A model drafts what is described: fetched when it is opened. */
const DescribeDrawer = lazy(async () => ({
  default: (await import('../../screens/applications/describe-drawer.tsx')).DescribeDrawer,
}))

function DescribeDialog() {
  const editor = useEditor()
  const opened = useEditorState(({ dialog }) => dialog?.kind === 'describe')
  const guid = useEditorState(({ blueprint }) => blueprint?._meta.guid ?? '')
  const { data, error } = useQuery({ ...applicationOf(guid), enabled: opened && guid !== '' })
  if (!opened || (data === undefined && !error)) return null
  const application = data?.[0]?.name ?? ''
  return (
    <Suspense fallback={null}>
      <DescribeDrawer opened onClose={() => editor.set({ dialog: undefined })} application={application} />
    </Suspense>
  )
}

/** Two people changed the same block. Nothing is overwritten until one of them says what stays. */
function ConflictDialog() {
  const conflicts = useEditorState((state) => state.conflicts)
  const [first] = conflicts
  const field = useFieldLeftAlone(first !== undefined)
  return (
    <Modal
      opened={first !== undefined && field !== undefined}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={<Text fw={650}>{barTexts.conflicts(conflicts.length)}</Text>}
      size="lg"
    >
      {first ? <Choice key={first.guid} conflict={first} field={field ?? null} /> : null}
    </Modal>
  )
}

/** Longer than the pause between two words. */
const PAUSE_MS = 1500

/**
 * What has the focus, as soon as nothing is typed in it: a question that opens while a sentence is typed would take the rest of it. Undefined
 * until then, and while nothing is asked.
 */
function useFieldLeftAlone(isAsked: boolean): Element | null | undefined {
  const [field, setField] = useState<Element | null>()
  useEffect(() => {
    if (!isAsked) return undefined
    const ended = new AbortController()
    const ask = () => {
      ended.abort()
      setField(document.activeElement)
    }
    let timer = setTimeout(ask, isField(document.activeElement) ? PAUSE_MS : 0)
    const typed = () => {
      clearTimeout(timer)
      timer = setTimeout(ask, PAUSE_MS)
    }
    document.addEventListener('keydown', typed, { capture: true, signal: ended.signal })
    return () => {
      ended.abort()
      clearTimeout(timer)
      setField(undefined)
    }
  }, [isAsked])
  return field
}

function isField(one: Element | null): boolean {
  return one?.matches('input, textarea, select, [contenteditable="true"]') === true
}

interface ChoiceProps {
  readonly conflict: Conflict
  /** That had the focus before. */
  readonly field: Element | null
}

function Choice({ conflict: { guid, theirs }, field }: ChoiceProps) {
  const editor = useEditor()
  const mine = useEditorState(({ drawing }) => drawing.flow.get(guid))
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const other = theirs?.staged ?? undefined
  const content = mine ?? other ?? theirs?.saved ?? undefined
  const who = theirs?.staging?.by.username ?? barTexts.anotherUser
  const changes = useMemo(() => {
    const before = other ? withBlock(withoutBlock(flow, guid), guid, other) : withoutBlock(flow, guid)
    return diffFlows(before, mine ? withBlock(before, guid, mine) : withoutBlock(before, guid), catalogue)
  }, [flow, guid, mine, other, catalogue])
  /** What is typed although it asks belongs into the field. */
  const typed = useRef('')
  const takeKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.key === 'Tab') return
    if ([...event.key].length === 1) typed.current += event.key
    else if (event.key === 'Backspace') typed.current = typed.current.slice(0, -1)
    event.preventDefault()
  }
  const keepMine = () => {
    editor.sync.resolve(guid, 'mine')
    // The dialog holds the focus until it is closed.
    setTimeout(() => {
      if (typed.current === '' || !(field instanceof HTMLElement) || !isField(field)) return
      field.focus()
      document.execCommand('insertText', false, typed.current)
    })
  }
  return (
    <Stack gap="md">
      <Text size="sm" tabIndex={-1} data-autofocus style={{ outline: 'none' }} onKeyDown={takeKey}>
        {who} {other ? barTexts.changed : barTexts.removed}{' '}
        <b>{content ? nameOf(content, catalogue) : barTexts.aBlock}</b>{' '}
        {barTexts.conflictText(theirs?.staging ? barTexts.versionOf(who) : barTexts.theOther)}
      </Text>
      <ScrollArea.Autosize mah="40vh" type="auto">
        {changes.length === 0 ? (
          <Text size="sm">{barTexts.conflictEqual}</Text>
        ) : (
          <FlowDiffView changes={changes} />
        )}
      </ScrollArea.Autosize>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={keepMine}>
          {mine ? barTexts.keepMine : barTexts.keepRemoval}
        </Button>
        <Button variant="default" onClick={() => editor.sync.resolve(guid, 'theirs')}>
          {other ? barTexts.takeTheirs(who) : barTexts.takeRemoval}
        </Button>
      </Group>
    </Stack>
  )
}

function withoutBlock(flow: typeof emptyFlow, guid: string): typeof emptyFlow {
  return new Map([...flow].filter(([one]) => one !== guid))
}

/** After a roll back, or whenever what is saved is not what is live: take over what is live, or keep what is drawn. */
function DiffersDialog() {
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
  const live = useQuery(versionQuery(guid, number))
  const changes = useMemo(
    () => (live.data ? diffFlows(live.data, drawn, catalogue) : []),
    [live.data, drawn, catalogue],
  )
  const taking = useDialogRequest({
    failed: controlsTexts.notDone(barTexts.takeOver(number)),
    opened: true,
    onClose,
    send: async () => {
      const flow = live.data
      if (!flow) return
      editor.run(barTexts.takeVersion(number), () => flow)
      await editor.save()
      notifyDone(barTexts.tookOver(number))
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

/** Shows what would be lost, and whose it is, before it is. */
function DiscardDialog() {
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
      {opened ? <DiscardDialogContent onClose={close} /> : null}
    </Modal>
  )
}

function DiscardDialogContent({ onClose }: { readonly onClose: () => void }) {
  const editor = useEditor()
  const guid = useEditorState((state) => state.guid)
  const known = useEditorState((state) => state.known)
  const catalogue = useEditorState((state) => state.catalogue)
  const changes = useMemo(() => diffFlows(savedFlow(known), stagedFlow(known), catalogue), [known, catalogue])
  const by = stagedBy(known)
  const discarding = useDialogRequest({
    failed: controlsTexts.notDone(barTexts.discardStagedChanges),
    opened: true,
    onClose,
    send: async () => {
      await editor.sync.settled()
      await discardStaged(guid)
      await editor.sync.refresh()
      notifyDone(barTexts.discarded)
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
