import { Alert, Anchor, Menu, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { Icon } from '../../controls/icon.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { pinReply, unpinAll, unpinReply } from '../state/pinned-replies.ts'
import classes from './pin-reply.module.css'
import { useShownRun } from './run-queries.ts'

/** In the menu of a block outside: its reply in the shown run for the next tries, or calls again. */
export function PinReplyItem({ block }: { readonly block: string }) {
  const editor = useEditor()
  const type = useEditorState(({ drawing }) => drawing.flow.get(block)?.type) ?? ''
  const isOutside = useEditorState(({ catalogue }) => catalogue.get(type)?.outside === true)
  const pinned = useEditorState(({ pinnedReplies }) => pinnedReplies.get(block))
  const { run } = useShownRun()
  if (!isOutside) return null
  const ran = run && run.status !== 'running' && run.steps.some((step) => step.block === block)
  return (
    <>
      {ran && run.guid !== pinned ? (
        <Menu.Item
          leftSection={<Icon name="lock" size={15} />}
          onClick={() => pinReply(editor, block, run.guid)}
        >
          {runsTexts.pinReply}
        </Menu.Item>
      ) : null}
      {pinned === undefined ? null : (
        <Menu.Item leftSection={<Icon name="close" size={15} />} onClick={() => unpinReply(editor, block)}>
          {runsTexts.unpinReply}
        </Menu.Item>
      )}
    </>
  )
}

/** On the lower edge of a block whose reply is pinned; a click unpins it. */
export function PinnedMark({ block }: { readonly block: string }) {
  const editor = useEditor()
  const isPinned = useEditorState(({ pinnedReplies }) => pinnedReplies.has(block))
  if (!isPinned) return null
  return (
    <button
      type="button"
      className={`${classes.mark} nodrag nopan`}
      title={runsTexts.pinnedHelp}
      aria-label={runsTexts.pinnedName}
      onClick={(event) => {
        event.stopPropagation()
        unpinReply(editor, block)
      }}
    >
      <Icon name="lock" size={11} />
      {runsTexts.pinned}
    </button>
  )
}

/** How many replies a try uses. */
export function PinnedNote() {
  const editor = useEditor()
  const pins = useEditorState(
    ({ pinnedReplies, drawing }) =>
      [...pinnedReplies.keys()].filter((block) => drawing.flow.has(block)).length,
  )
  if (pins === 0) return null
  return (
    <Text size="xs" c="dimmed">
      {runsTexts.pinnedReplies(pins)}{' '}
      <Anchor component="button" type="button" size="xs" onClick={() => unpinAll(editor)}>
        {runsTexts.unpinAll}
      </Anchor>
    </Text>
  )
}

/** Two blueprints can register one address: then it is said which of them answered. */
export function ElsewhereNote({ run }: { readonly run: Run }) {
  const blueprint = useEditorState((state) => state.guid)
  if (run.blueprint === blueprint) return null
  return (
    <Alert color="sand" variant="light" p="xs" mt={8}>
      <Text size="xs">
        {runsTexts.servedElsewhere}{' '}
        <Anchor component={Link} href={`/blueprints/${run.blueprint}?run=${run.guid}`} size="xs">
          {runsTexts.showItThere}
        </Anchor>
      </Text>
    </Alert>
  )
}
