import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { nameOf } from '../model/block-names.ts'
import { type emptyFlow, withBlock } from '../model/flow.ts'
import { diffFlows } from '../model/flow-diff.ts'
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
      title={
        <Text fw={650}>Conflicting change{conflicts.length > 1 ? ` (${conflicts.length} blocks)` : ''}</Text>
      }
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
  const who = theirs?.staging?.by.username ?? 'Somebody'
  const changes = useMemo(() => {
    const before = other ? withBlock(withoutBlock(flow, guid), guid, other) : withoutBlock(flow, guid)
    return diffFlows(before, mine ? withBlock(before, guid, mine) : withoutBlock(before, guid), catalogue)
  }, [flow, guid, mine, other, catalogue])
  return (
    <Stack gap="md">
      <Text size="sm">
        {who} {other ? 'changed' : 'removed'} <b>{content ? nameOf(content, catalogue) : 'a block'}</b> while
        you did. Neither is lost until you choose. What your version would change in{' '}
        {theirs?.staging ? `${who}’s` : 'the other'}:
      </Text>
      <ScrollArea.Autosize mah="40vh" type="auto">
        {changes.length === 0 ? (
          <Text size="sm">Nothing: both versions are equal.</Text>
        ) : (
          <FlowDiffView changes={changes} />
        )}
      </ScrollArea.Autosize>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => editor.sync.resolve(guid, 'mine')}>
          {mine ? 'Keep mine' : 'Remove it anyway'}
        </Button>
        <Button data-autofocus onClick={() => editor.sync.resolve(guid, 'theirs')}>
          {other ? `Take ${who}’s` : 'Accept the removal'}
        </Button>
      </Group>
    </Stack>
  )
}

function withoutBlock(flow: typeof emptyFlow, guid: string): typeof emptyFlow {
  return new Map([...flow].filter(([one]) => one !== guid))
}
