import {
  ActionIcon,
  AppShell,
  Avatar,
  Badge,
  Burger,
  Group,
  Kbd,
  Menu,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react'
import { Link, matchRoute, useLocation, useRouter } from 'wouter'
import { useStore } from 'zustand'
import { meQuery } from '../api/account.ts'
import { infoQuery } from '../api/operate.ts'
import { disputesQuestion } from '../api/save-changes.ts'
import { ConfirmDialog } from '../controls/confirm-dialog.tsx'
import { useScreenCount } from '../controls/hooks.ts'
import { Icon } from '../controls/icon.tsx'
import mark from '../quoin.svg'
import { type Screen, screens } from '../screens/screen-registry.ts'
import { shellTexts } from '../texts/shell.ts'
import { CommandPalette } from './command-palette.tsx'
import navigationClasses from './navigation.module.css'
import { isOffered, placeOf, sectionOf, sections } from './sections.ts'
import classes from './shell.module.css'
import { listenToKeys, shortcuts, useShortcut } from './shortcuts.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'
import { signOut } from './sign-out.ts'

/** Header, navigation and the screen between them. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const isCanvas = useScreen()?.layout === 'canvas'
  const [isMenuOpen, menu] = useDisclosure(false)
  const [isPaletteOpen, palette] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
  const [narrow] = useLocalStorage({ key: 'quoin.narrow', defaultValue: false })
  const isNarrow = (isCanvas || narrow) && !isMenuOpen
  useEffect(listenToKeys, [])
  useGoShortcuts()
  useShortcut(
    { keys: 'mod+k', label: shellTexts.search, group: shellTexts.everywhere, whileTyping: true },
    palette.toggle,
  )
  useShortcut({ keys: '?', label: shellTexts.thisList, group: shellTexts.everywhere }, help.toggle)
  const main = useFocusOnChange()
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{
        width: isNarrow ? 56 : 208,
        breakpoint: 'md',
        collapsed: { mobile: !isMenuOpen },
      }}
      padding={0}
      transitionDuration={0}
    >
      <a href="#main" className="skip">
        {shellTexts.toTheContent}
      </a>
      <AppShell.Header className={classes.header}>
        <Group h="100%" px="sm" gap="sm" wrap="nowrap">
          <Burger
            opened={isMenuOpen}
            onClick={menu.toggle}
            hiddenFrom="md"
            size="sm"
            aria-label={shellTexts.navigation}
          />
          <Brand />
          <ClusterName />
          <SearchButton onClick={palette.open} />
          <ThemeSwitch />
          <UserMenu onHelp={help.open} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar}>
        <Navigation narrow={isNarrow} onGo={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={isCanvas ? classes.canvas : classes.page}>
        {isCanvas ? children : <div className={classes.column}>{children}</div>}
      </AppShell.Main>
      <ConfirmDialog />
      <Disputes />
      <CommandPalette opened={isPaletteOpen} onClose={palette.close} />
      <ShortcutsDialog opened={isHelpOpen} onClose={help.close} />
    </AppShell>
  )
}

/** Rare, so fetched when two people have changed the same. */
const DisputesDialog = lazy(async () => ({
  default: (await import('../controls/disputes-dialog.tsx')).DisputesDialog,
}))

function Disputes() {
  const open = useStore(disputesQuestion, (state) => state.open)
  return <Suspense fallback={null}>{open ? <DisputesDialog question={open} /> : null}</Suspense>
}

/** After going to another screen the focus is at its beginning or in the field that it names, not on what is gone; not when the page is first opened. */
function useFocusOnChange() {
  const main = useRef<HTMLElement>(null)
  const count = useScreenCount()
  useEffect(() => {
    const field = main.current?.querySelector<HTMLElement>('[data-autofocus]') ?? main.current
    if (count > 0) field?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [count])
  return main
}

function Brand() {
  return (
    <Link href="/" className={classes.brand}>
      <img src={mark} alt="" width={22} height={22} />
      Quoin
    </Link>
  )
}

/** Opens the command palette. */
function SearchButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <UnstyledButton className={classes.search} onClick={onClick} aria-keyshortcuts="Control+K">
      <Icon name="search" size={15} />
      <span className={classes.searchWords}>{shellTexts.searchButton}</span>
      <Kbd size="xs" visibleFrom="sm">
        {shellTexts.ctrlK}
      </Kbd>
    </UnstyledButton>
  )
}

/** Which cluster this is: users must not mistake production for another cluster. */
function ClusterName() {
  const { data: info } = useQuery(infoQuery)
  if (!info) return null
  const nodes = shellTexts.nodeCount(info.nodes)
  return (
    <Tooltip label={shellTexts.cluster(info.version, nodes, info.flags.storage)}>
      <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8, minWidth: 0 }}>
        <Text size="sm" c="dimmed" truncate visibleFrom="sm">
          {info.node}
        </Text>
        <Badge size="sm" color={info.environment === 'production' ? 'sand' : 'gray'}>
          {info.environment}
        </Badge>
      </span>
    </Tooltip>
  )
}

interface NavigationProps {
  /** Icons only. */
  readonly narrow: boolean
  readonly onGo: () => void
}

function Navigation({ narrow, onGo }: NavigationProps) {
  const [path] = useLocation()
  const open = sectionOf(path)
  const { data: info } = useQuery(infoQuery)
  return (
    <nav aria-label={shellTexts.mainNavigation} className={navigationClasses.navigation}>
      <ul className={navigationClasses.list}>
        {sections.map((section) => {
          const isOpen = section === open
          const place = placeOf(section, path)
          return (
            <li key={section.path}>
              <Tooltip label={section.label} position="right" disabled={!narrow} openDelay={100}>
                <Link
                  href={section.path}
                  className={`${navigationClasses.section} ${narrow ? navigationClasses.narrow : ''}`}
                  data-open={isOpen || undefined}
                  aria-current={isOpen && section.places.length === 0 ? 'page' : undefined}
                  aria-label={narrow ? section.label : undefined}
                  onClick={onGo}
                >
                  <Icon name={section.icon} />
                  {narrow ? null : <span>{section.label}</span>}
                </Link>
              </Tooltip>
              {isOpen && !narrow && section.places.length > 0 ? (
                <ul className={navigationClasses.places}>
                  {section.places
                    .filter((one) => isOffered(one.path, info))
                    .map((one) => (
                      <li key={one.path}>
                        {one.group === undefined ? null : (
                          <div className={navigationClasses.group}>{one.group}</div>
                        )}
                        <Link
                          href={one.path}
                          className={navigationClasses.place}
                          aria-current={one === place ? 'page' : undefined}
                          onClick={onGo}
                        >
                          {one.label}
                        </Link>
                      </li>
                    ))}
                </ul>
              ) : null}
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** Dark or light. Until it is used, whatever the machine is set to. */
function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const label = isDark ? shellTexts.lightColours : shellTexts.darkColours
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        <Icon name={isDark ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  )
}

/** `g` and a letter go to a section. */
function useGoShortcuts(): void {
  const [, go] = useLocation()
  useEffect(() => {
    const entries = sections.map((section) => ({
      keys: shellTexts.g(section.letter),
      label: shellTexts.goToSection(section.label),
      group: shellTexts.navigation,
      run: () => go(section.path),
    }))
    shortcuts.setState(({ active }) => ({ active: [...active, ...entries] }))
    return () =>
      shortcuts.setState(({ active }) => ({
        active: active.filter((one) => !entries.some((e) => e === one)),
      }))
  }, [go])
}

function UserMenu({ onHelp }: { readonly onHelp: () => void }) {
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

/** The screen that the address shows. */
function useScreen(): Screen | undefined {
  const { parser } = useRouter()
  const [path] = useLocation()
  return screens.find((screen) => matchRoute(parser, screen.path, path)[0])
}
