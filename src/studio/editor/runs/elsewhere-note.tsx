import { Alert, Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditorState } from '../state/editor-context.ts'

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
