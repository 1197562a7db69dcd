import { extname } from 'node:path'

const byExtension = new Map(
  Object.entries({
    ts: 'ts tsx mts cts',
    js: 'js jsx mjs cjs',
    json: 'json jsonc',
    py: 'py',
    rb: 'rb',
    go: 'go',
    rs: 'rs',
    java: 'java',
    c: 'c h',
    cpp: 'cc cpp hpp cxx',
    cs: 'cs',
    kotlin: 'kt',
    swift: 'swift',
    php: 'php',
    sh: 'sh bash zsh',
    yaml: 'yaml yml',
    toml: 'toml',
    ini: 'ini',
    markdown: 'md markdown',
    mdx: 'mdx',
    html: 'html htm',
    css: 'css',
    scss: 'scss',
    less: 'less',
    sql: 'sql',
    xml: 'xml',
    lua: 'lua',
  }).flatMap(([lang, extensions]) => extensions.split(' ').map((extension) => [extension, lang] as const)),
)

/** For surfaces that colour what was read. */
export function languageOf(path: string): string | undefined {
  return byExtension.get(extname(path).slice(1).toLowerCase())
}
