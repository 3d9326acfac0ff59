import fc from 'fast-check';

const lastCodePoint = 0x10ffff;

/** Text of any code points but surrogates. The units of fast-check that do this take seconds to prepare. */
export function anyText(maxLength?: number): fc.Arbitrary<string> {
  const unit = fc
    .integer({ min: 0, max: lastCodePoint })
    .map((code) => (code >= 0xd800 && code <= 0xdfff ? code - 0xd800 : code))
    .map((code) => String.fromCodePoint(code));
  const anywhere = fc.oneof(unit, fc.string({ minLength: 1, maxLength: 1 }));
  return fc.string({ unit: anywhere, ...(maxLength === undefined ? {} : { maxLength }) });
}
