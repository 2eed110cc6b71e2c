import { Button, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState } from '../../controls/empty-state.tsx'
import { blueprintsTexts } from '../../texts/blueprints.ts'

interface NoBlueprintsProps {
  readonly query: string
  readonly onCreate: () => void
}

export function NoBlueprints({ query, onCreate }: NoBlueprintsProps) {
  if (query !== '')
    return (
      <EmptyState icon="search" title={blueprintsTexts.noMatch}>
        <Text size="sm">{blueprintsTexts.noMatchText(query)}</Text>
      </EmptyState>
    )
  return (
    <EmptyState icon="blueprint" title={blueprintsTexts.noBlueprintsYet}>
      <Text size="sm">{blueprintsTexts.noBlueprintsText}</Text>
      <Group gap="xs">
        <Button onClick={onCreate}>{blueprintsTexts.newBlueprint}</Button>
        <Button component={Link} href="/welcome" variant="default">
          {blueprintsTexts.noBlueprintsYetText}
        </Button>
      </Group>
    </EmptyState>
  )
}
