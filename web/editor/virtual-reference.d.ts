declare module 'virtual:reference' {
  export const schema: import('./schema.ts').Schema;
}
