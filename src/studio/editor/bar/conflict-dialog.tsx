import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { barTexts } from '../../texts/bar.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { type emptyFlow, withBlock } from '../model/flow.ts'
import { nameOf } from '../model/words/block-names.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import type { Conflict } from '../state/editor-state.ts'
import { FlowDiffView } from './flow-diff-view.tsx'

/** Two people changed the same block. Nothing is overwritten until one of them says what stays. */
export function ConflictDialog() {
  const conflicts = useEditorState((state) => state.conflicts)
  const [first] = conflicts
  return (
    <Modal
      opened={first !== undefined}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={<Text fw={650}>{barTexts.conflicts(conflicts.length)}</Text>}
      size="lg"
    >
      {first ? <Choice key={first.guid} conflict={first} /> : null}
    </Modal>
  )
}

function Choice({ conflict: { guid, theirs } }: { readonly conflict: Conflict }) {
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
  return (
    <Stack gap="md">
      <Text size="sm">
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
        <Button variant="default" onClick={() => editor.sync.resolve(guid, 'mine')}>
          {mine ? barTexts.keepMine : barTexts.keepRemoval}
        </Button>
        <Button data-autofocus onClick={() => editor.sync.resolve(guid, 'theirs')}>
          {other ? barTexts.takeTheirs(who) : barTexts.takeRemoval}
        </Button>
      </Group>
    </Stack>
  )
}

function withoutBlock(flow: typeof emptyFlow, guid: string): typeof emptyFlow {
  return new Map([...flow].filter(([one]) => one !== guid))
}
