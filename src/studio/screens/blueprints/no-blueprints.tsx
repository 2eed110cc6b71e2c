import { Button, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState } from '../../controls/empty-state.tsx'

interface NoBlueprintsProps {
  readonly query: string
  readonly onCreate: () => void
}

export function NoBlueprints({ query, onCreate }: NoBlueprintsProps) {
  if (query !== '')
    return (
      <EmptyState icon="search" title="No match">
        <Text size="sm">No blueprint has “{query}” in its name or description.</Text>
      </EmptyState>
    )
  return (
    <EmptyState icon="blueprint" title="No blueprints yet">
      <Text size="sm">A blueprint is a flow of blocks: it serves requests, runs jobs or shows pages.</Text>
      <Group gap="xs">
        <Button onClick={onCreate}>New blueprint</Button>
        <Button component={Link} href="/welcome" variant="default">
          Start from a template
        </Button>
      </Group>
    </EmptyState>
  )
}
