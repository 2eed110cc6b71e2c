import { ActionIcon, Avatar, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { meQuery } from '../api/me.ts'
import { Icon } from '../controls/icon.tsx'
import { shellTexts } from '../texts/shell.ts'
import { signOut } from './sign-out.ts'

export function UserMenu({ onHelp }: { readonly onHelp: () => void }) {
  const [, go] = useLocation()
  const { data: me } = useQuery(meQuery)
  const name = me?.username ?? ''
  const initials = name.slice(0, 2).toUpperCase()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          radius="xl"
          aria-label={shellTexts.accountOf(initials)}
        >
          <Avatar size={28} color="petrol" alt="">
            {initials}
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" component="span" truncate>
            {name}
          </Text>
        </Menu.Label>
        <Menu.Item leftSection={<Icon name="people" size={16} />} onClick={() => go('/account')}>
          {shellTexts.yourAccount}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="play" size={16} />} onClick={() => go('/welcome')}>
          {shellTexts.firstSteps}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="help" size={16} />} onClick={onHelp} rightSection="?">
          {shellTexts.keyboardShortcuts}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="lock" size={16} />} onClick={() => void signOut()}>
          {shellTexts.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
