package lang

import (
	"testing"

	"presswork/internal/analysis/plaintext"
)

func TestDetectLanguage(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"The kettle was already singing when she came in from the garden, and nobody had thought of the cups.":         "en",
		"Der Kessel sang schon, als sie aus dem Garten hereinkam, und niemand hatte an die Tassen gedacht.":            "de",
		"La bouilloire chantait déjà quand elle est rentrée du jardin, et personne n'avait pensé aux tasses.":          "fr",
		"La tetera ya cantaba cuando ella entró del jardín, y nadie había pensado en las tazas para el té.":            "es",
		"A chaleira já cantava quando ela entrou do jardim, e ninguém tinha pensado nas xícaras para o chá.":           "pt",
		"Il bollitore cantava già quando lei rientrò dal giardino, e nessuno aveva pensato alle tazze per il tè.":      "it",
		"De ketel zong al toen ze uit de tuin binnenkwam, en niemand had aan de kopjes voor de thee gedacht.":          "nl",
		"Vattenkokaren sjöng redan när hon kom in från trädgården, och ingen hade tänkt på kopparna till teet.":        "sv",
		"Kedlen sang allerede, da hun kom ind fra haven, og ingen havde tænkt på kopperne til teen den dag.":           "da",
		"Kjelen sang allerede da hun kom inn fra hagen, og ingen hadde tenkt på koppene til teen den dagen.":           "no",
		"Vedenkeitin lauloi jo, kun hän tuli puutarhasta sisään, eikä kukaan ollut ajatellut kuppeja teetä varten.":    "fi",
		"Czajnik już śpiewał, kiedy weszła z ogrodu, i nikt nie pomyślał o filiżankach do herbaty tego dnia.":          "pl",
		"Konvice už zpívala, když přišla ze zahrady, a nikdo nepomyslel na šálky na čaj, které byly ve skříni.":        "cs",
		"A vízforraló már énekelt, amikor bejött a kertből, és senki sem gondolt a csészékre, mert az idő jó volt.":    "hu",
		"Ceainicul cânta deja când ea a intrat din grădină și nimeni nu se gândise la ceștile pentru ceai.":            "ro",
		"Bahçeden içeri girdiğinde çaydanlık çoktan ötmeye başlamıştı ve hiç kimse çay için bardakları düşünmemişti.":  "tr",
		"Ketel itu sudah bernyanyi ketika dia masuk dari kebun, dan tidak ada yang memikirkan cangkir untuk teh.":      "id",
		"Ấm nước đã reo khi cô ấy từ vườn bước vào, và không ai nghĩ đến những chiếc cốc cho trà của họ.":              "vi",
		"Чайник уже пел, когда она вошла из сада, и никто не подумал о чашках для чая, которые были в шкафу.":          "ru",
		"Чайник уже співав, коли вона зайшла з саду, і ніхто не подумав про чашки для чаю, які були в шафі.":           "uk",
		"Чайникът вече пееше, когато тя влезе от градината, и никой не беше помислил за чашите за чая.":                "bg",
		"كان الإبريق يغني بالفعل عندما دخلت من الحديقة، ولم يفكر أحد في الأكواب التي كانت على الرف.":                   "ar",
		"کتری داشت می\u200cخواند وقتی که او از باغ وارد شد و هیچ کس به فنجان\u200cها برای چای فکر نکرده بود.":          "fa",
		"הקומקום כבר שר כשהיא נכנסה מן הגן ואיש לא חשב על הספלים":                                                      "he",
		"Ο βραστήρας τραγουδούσε ήδη όταν μπήκε από τον κήπο":                                                          "el",
		"กาน้ำร้องเพลงอยู่แล้วเมื่อเธอเข้ามาจากสวน":                                                                    "th",
		"정원에서 들어왔을 때 주전자는 이미 노래하고 있었다.":                                                                                "ko",
		"彼女が庭から入ってきたとき、やかんはもう歌っていた。":                                                                                   "ja",
		"她从花园进来的时候，水壶已经在唱歌了。":                                                                                          "zh",
		"जब वह बगीचे से अंदर आई तब केतली पहले से ही गा रही थी और किसी ने भी चाय के लिए कपों के बारे में नहीं सोचा था।": "hi",
		"Where is the station?":      "en",
		"Wo ist der Bahnhof, bitte?": "de",
		"kubectl nginx postgres redis ctl0 mkfs fsck qemu zfs tmux xargs awk sed grep": "und",
		"Guten Tag": "und",
	} {
		t.Run(text, func(t *testing.T) {
			if got := Detect(plaintext.AppendTokens(nil, text)); got != want {
				t.Errorf("got %s, want %s: %s", got, want, text)
			}
		})
	}
}

// A text in a language similar to a known one is reported as its own language, or as "und" if that is uncertain.
func TestUncertainLanguageIsUndetermined(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"A tetera xa cantaba cando ela entrou do xardín, e ninguén pensara nas cuncas. Despois sentouse á mesa coa súa irmá, e as dúas falaron da xente do lugar ata a noite.": "gl",
		"Ketillinn söng þegar hún kom inn úr garðinum og enginn hafði hugsað um bollana fyrir teið þann dag.":                                                                  "is",
		"Tukunyar ta riga ta fara waƙa lokacin da ta shigo daga lambu, kuma babu wanda ya yi tunanin kofunan.":                                                                 "ha",
	} {
		t.Run(text, func(t *testing.T) {
			if got := Detect(plaintext.AppendTokens(nil, text)); got != want && got != "und" {
				t.Errorf("got %s, want %s or und: %s", got, want, text)
			}
		})
	}
}
