import { Badge, Text } from '@mantine/core'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'

export function BlueprintName({ blueprint }: { readonly blueprint: Blueprint }) {
  const { name, description, category, tags } = blueprint
  return (
    <>
      {name}
      {description === '' ? null : (
        <Text size="xs" c="dimmed" fw={400} lineClamp={2}>
          {description}
        </Text>
      )}
      {[category, ...tags]
        .filter((word) => word !== '')
        .map((word) => (
          <Badge key={word} size="xs" color="gray" mr={4}>
            {word}
          </Badge>
        ))}
    </>
  )
}
